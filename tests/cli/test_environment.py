"""The environments of ./run and ./test: built once, never deleted while another process may use them, and found from any folder."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import make_environment
import pytest

from copied_project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_the_first_run_builds_and_the_second_does_not(project: Project) -> None:
    done = project.run("dedup", "a b", given="what is piped in", cwd=project.folder)
    (folder,) = project.environments()
    first, second = done.stderr.splitlines()
    assert first == "setting up .venv (once, about two minutes)"
    assert re.fullmatch(r"compiled 3 kernels for this machine in \d+ s", second)
    assert done.stdout == f"{folder}/bin/python 1 {project.folder} ['dedup', 'a b'] what is piped in\n"
    assert project.run().stderr == "" and project.calls() == 1
    assert (project.root / ".venv").is_symlink() and (project.root / ".venv").resolve() == folder


def test_kernels_are_compiled_once_and_a_failure_costs_a_warning(project: Project) -> None:
    (project.folder / "no compiler").touch()
    done = project.run()
    assert done.returncode == 0
    assert done.stderr.splitlines()[1:] == ["kernels could not be compiled ahead; they are compiled when they are first used"]
    assert project.run().stderr == ""
    assert (project.folder / "compiled").read_text() == "--jobs documents formats\n"


@pytest.mark.parametrize("how", ["link", "link to a link", "relative link", "PATH", "relative", "CDPATH"])
def test_it_works_through_links_and_from_any_folder(tmp_path: Path, how: str) -> None:
    project = Project(tmp_path / "a folder's name")
    here = tmp_path / "here"
    (here / "bin").mkdir(parents=True)
    link, env = here / "bin" / "likewise", {}
    link.symlink_to(project.root / "run" if how != "relative link" else "../../a folder's name/project/run")
    command, given = str(link), ["x"]
    if how == "link to a link":
        (here / "again").symlink_to("bin/likewise")
        command = "./again"
    elif how == "PATH":
        command, given = "/bin/bash", ["-c", "likewise x"]
        env = {"PATH": f"{project.folder / 'bin'}:{link.parent}:{os.environ['PATH']}"}
    elif how == "relative":
        command = "../a folder's name/project/run"
    elif how == "CDPATH":
        here, command, env = project.root, "./run", {"CDPATH": str(here)}
    done = project.run(*given, command=command, cwd=here, env=env)
    assert done.returncode == 0, done.stderr
    (folder,) = project.environments()
    assert done.stdout == f"{folder}/bin/python 1 {here} ['x'] \n"


def test_nothing_of_the_shell_and_nothing_here_reaches_the_package(project: Project, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("csv", "likewise", "fcntl", "hashlib", "pathlib", "subprocess", "venv", "sitecustomize", "usercustomize"):
        (here / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)")
    for path in (".:", f"{here}:"):
        done = project.run(cwd=here, env={"PYTHONPATH": path, "PYTHONSTARTUP": str(here / "csv.py"), "PYTHONINSPECT": "1"})
        assert done.returncode == 0 and f" 1 {here} []" in done.stdout
    assert project.calls() == 1 and not (tmp_path / "ran").exists()


def test_of_several_first_runs_one_builds(project: Project) -> None:
    (project.folder / "wait").touch()
    first = project.begun()
    project.until(1)
    others = [project.begun() for _ in range(3)]
    waiting = [process.stderr.readline() for process in others if process.stderr]
    (project.folder / "wait").unlink()
    said = [process.communicate("")[0] for process in [first, *others]]
    (folder,) = project.environments()
    assert waiting == [f"another process is setting up {folder}; waiting for it\n"] * 3
    assert said == [f"{folder}/bin/python 1 {Path.cwd()} [] \n"] * 4
    assert project.calls() == 1


def test_what_a_killed_one_left_is_built_again(project: Project) -> None:
    (project.folder / "wait").touch()
    process = project.begun(start_new_session=True)
    project.until(1)
    (left,) = (project.root / ".venv.d").glob("*/lib/python3*/site-packages")
    (left / "half.py").touch()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not project.environments() and not (project.root / ".venv").exists()
    (project.folder / "wait").unlink()
    assert project.run().returncode == 0
    assert project.calls() == 2 and project.environments() and not (left / "half.py").exists()


def test_nobody_takes_the_place_of_a_pip_whose_parents_were_killed(project: Project) -> None:
    (project.folder / "wait").touch()
    process = project.begun()
    project.until(1)
    (lock,) = (project.root / ".venv.d").glob("*.lock")
    for pid in [*holders(lock, "make_environment"), process.pid]:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    second = project.begun()
    assert second.stderr and "another process is setting up" in second.stderr.readline()
    assert project.calls() == 1, "the pip of the first still has its folder for itself"
    (project.folder / "wait").unlink()
    assert second.communicate("")[0].startswith(str(project.environments()[0]))
    process.communicate()
    assert project.calls() == 2


def holders(lock: Path, name: str) -> list[int]:
    """The processes of a name that have a file open."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            opened = any(Path(os.readlink(one)) == lock for one in (place / "fd").iterdir())
            if opened and name in (place / "cmdline").read_text():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def test_another_python_gets_an_environment_of_its_own(project: Project) -> None:
    project.python("other")
    first = project.run().stdout
    (project.environments()[0] / "mine").touch()
    second = project.run(python="other").stdout
    assert first.split()[0] != second.split()[0] and len(project.environments()) == 2
    assert (project.root / ".venv").resolve() == Path(second.split()[0]).parents[1], "it leads to the one that was asked for last"
    assert project.run().stdout == first and project.run(python="other").stdout == second
    assert project.calls() == 2 and len(list((project.root / ".venv.d").glob("*/mine"))) == 1


def test_other_requirements_get_an_environment_of_their_own(project: Project) -> None:
    project.run()
    before = project.environments()
    (project.root / "requirements.txt").write_text("a==2\n")
    done = project.run()
    assert f"{project.root}/.venv.d also holds older environments (1); delete those that no process uses" in done.stderr
    assert set(before) < set(project.environments()) and len(project.environments()) == 2


def test_a_folder_of_that_name_is_left_alone(project: Project) -> None:
    (project.root / ".venv" / "bin").mkdir(parents=True)
    (project.root / ".venv" / "bin" / "python").write_text("somebody's own")
    done = project.run()
    assert done.returncode == 0 and done.stdout.startswith(f"{project.root}/.venv.d/")
    assert f"{project.root}/.venv is a folder, not a link" in done.stderr and "Delete or rename it" in done.stderr
    assert (project.root / ".venv" / "bin" / "python").read_text() == "somebody's own"
    assert project.run().stderr == "", "one message is enough"
    (project.root / ".venv").rename(project.root / "before")
    project.run()
    assert (project.root / ".venv").resolve() == project.environments()[0]


def test_a_link_to_somewhere_else_is_left_alone(project: Project) -> None:
    (project.root / ".venv").symlink_to("/somewhere/else")
    assert project.run().returncode == 0
    assert os.readlink(project.root / ".venv") == "/somewhere/else"


def test_a_failing_pip_leaves_nothing_that_counts(project: Project) -> None:
    (project.folder / "fail").touch()
    done = project.run()
    assert done.returncode == 2 and done.stdout == ""
    assert "-m pip ended with status 7; see the lines above" in done.stderr
    assert not project.environments() and not os.path.lexists(project.root / ".venv")
    (project.folder / "fail").unlink()
    assert project.run().returncode == 0 and project.environments()


def test_another_user_takes_what_is_there_or_builds_beside_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = (str(project.folder / "bin" / "python3"), ".venv", "requirements.txt")
    monkeypatch.chdir(project.root)
    first = make_environment.main(*arguments)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert make_environment.main(*arguments) == first and project.calls() == 1

    readable = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "4242" in str(path) and readable(path, mode))
    second = make_environment.main(*arguments)
    assert second != first and "-4242/" in second and project.calls() == 2
    assert len(project.environments()) == 2


def test_a_folder_that_cannot_be_written_to_is_named(project: Project) -> None:
    (project.root / ".venv.d").write_text("in the way")
    done = project.run()
    assert done.returncode == 2 and "cannot be set up" in done.stderr and f"{project.root}/.venv.d" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_is_passed_over(project: Project) -> None:
    old = project.folder / "bin" / "python3"
    old.rename(project.folder / "bin" / "python3.11")
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.1 && exit\nexit 3\n')
    old.chmod(0o755)
    assert project.run().returncode == 0
    for name in ("python3.13", "python3.12", "python3.11"):
        (project.folder / "bin" / name).unlink(missing_ok=True)
        (project.folder / "bin" / name).symlink_to("python3")
    done = project.run()
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "likewise needs Python 3.11 or newer, and PATH has Python 3.8.1; install one first\n"


def test_the_file_is_read_by_old_pythons() -> None:
    """An old Python must report that it is too old, not a syntax error."""
    import ast

    ast.parse(Path(make_environment.__file__).read_text(), feature_version=(3, 8))
    assert sys.version_info >= (3, 11)
