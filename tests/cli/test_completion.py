"""Shell completion: the protocol of the scripts of bash, zsh and fish, and bash itself."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import SOURCE, process, run
from likewise.cli.verbs import VERBS
from likewise.methods import STEPS, UNITS

pytestmark = pytest.mark.usefixtures("folder")


def completed(monkeypatch: pytest.MonkeyPatch, line: str, shell: str = "bash") -> list[str]:
    """The output of likewise for a command line whose last word is to be completed; for bash each line is "type,value"."""
    words = shlex.split(line) + [""] * line.endswith(" ")
    monkeypatch.setenv("_LIKEWISE_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
    done = run()
    assert done.exit_code == 0 and done.stderr == "", done.stderr
    return [text for text in done.stdout.splitlines() if text]


def plain(*values: str) -> list[str]:
    return [f"plain,{value}" for value in values]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("likewise ", plain(*VERBS)),
        ("likewise d", plain("demo", "dedup", "doctor")),
        ("likewise --v", plain("--version")),
        ("likewise help p", plain("plan", "pairs")),
        ("likewise completion ", plain("bash", "zsh", "fish")),
        ("likewise dedup --thr", plain("--threshold", "--threads")),
        ("likewise dedup --threshold 0.9 --thr", plain("--threads")),
        ("likewise dedup --help", plain("--help", "--help-all")),
        ("likewise pairs --ag", plain("--against")),
        ("likewise dedup --by wo", plain("words:5")),
        ("likewise dedup --by edi", plain("edit", "edit/ratio")),
        ("likewise dedup --by=ch", plain("chars:9")),
        ("likewise dedup x --preset fi", plain("fineweb")),
        ("likewise dedup --keep l", plain("last", "longest")),
        ("likewise dedup --sketch ", plain("oph", "classic")),
        ("likewise dedup --output m", plain("mask")),
        ("likewise pairs --csv-formulas r", plain("raw")),
        ("likewise dedup --color a", plain("auto", "always")),
        ("likewise dedup --normalize nf", plain("nfc", "nfkc")),
        ("likewise dedup --normalize nfc,l", plain("nfc,lower")),
        ("likewise plan --family Min", plain("MinHash")),
        ("likewise dedup cra", ["file,cra"]),
        ("likewise pairs a.jsonl --against tes", ["file,tes"]),
        ("likewise dedup x -o cl", ["dir,cl"]),
        ("likewise pairs x -o p", ["file,p"]),
        ("likewise dedup --work ", ["dir,"]),
        ("likewise show cl", ["dir,cl"]),
        ("likewise report cl", ["dir,cl"]),
        ("likewise dedup --threshold ", []),
        ("likewise dedpu --thr", []),
    ],
)
def test_bash_gets(monkeypatch: pytest.MonkeyPatch, line: str, values: list[str]) -> None:
    assert completed(monkeypatch, line) == values


def test_every_unit_and_step_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = completed(monkeypatch, "likewise dedup --by ")
    assert {f"plain,{unit}:{k}" for unit, (k, _) in UNITS.items()} | set(plain("cosine", "hamming", "elements", "levenshtein")) <= set(offered)
    assert completed(monkeypatch, "likewise dedup --normalize ") == plain("masks", *STEPS)


def test_zsh_and_fish_get_the_help_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(monkeypatch, "likewise dedup --resu", "zsh") == ["plain", "--resume", "Continue an interrupted run."]
    assert completed(monkeypatch, "likewise do", "zsh") == ["plain", "doctor", VERBS["doctor"]]
    (line,) = completed(monkeypatch, "likewise dedup --resu", "fish")
    assert line.startswith("plain,--resume") and line.endswith("Continue an interrupted run.")
    assert completed(monkeypatch, "likewise dedup --by wor", "fish") == ["plain,words:5"]


def test_a_settings_file_with_mistakes_does_not_disturb(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("likewise.toml").write_text("treshold = ")
    assert completed(monkeypatch, "likewise dedup --resu") == plain("--resume")


@pytest.mark.parametrize("line", ["likewise ", "likewise dedup --by ", "likewise features --vec", "likewise neighbors --k"])
def test_completing_loads_nothing_heavy(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    for name, value in (("_LIKEWISE_COMPLETE", "bash_complete"), ("COMP_WORDS", line), ("COMP_CWORD", str(len(line.split(" ")) - 1))):
        monkeypatch.setenv(name, value)
    done = process(python=("-X", "importtime"))
    assert done.returncode == 0 and done.stdout.startswith("plain,")
    loaded = {text.rpartition("|")[2].strip().partition(".")[0] for text in done.stderr.splitlines()}
    assert "click" in loaded and not loaded & {"numba", "numpy", "pyarrow", "rich", "llvmlite"}


def in_bash(folder: Path, line: str) -> list[str]:
    """The words that bash offers at the end of a line, once its script is installed and ``likewise`` is on the PATH."""
    command = folder / "bin" / "likewise"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(SOURCE)} exec {shlex.quote(sys.executable)} -P -m likewise "$@"\n')
    command.chmod(0o755)
    words = shlex.join(line.split(" "))
    script = f"""
eval "$(likewise completion bash)"
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
compopt() {{ echo compopt "$@"; }}
_likewise_completion likewise
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p likewise
"""
    env = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, env=env)
    *words_offered, registered = done.stdout.splitlines()
    assert done.stderr == "" and registered == "complete -o nosort -F _likewise_completion likewise"
    return [word for word in words_offered if word]


def test_bash_completes(folder: Path) -> None:
    assert in_bash(folder, "likewise dedup --resu") == ["--resume"]
    assert in_bash(folder, "likewise a") == ["audit"]
    assert in_bash(folder, "likewise dedup --normalize nfc,pu") == ["nfc,punct"]
    assert in_bash(folder, "likewise dedup ./x") == ["compopt -o default"]
    assert in_bash(folder, "likewise show ./x") == ["compopt -o dirnames"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_can_be_printed(shell: str) -> None:
    done = run("completion", shell)
    assert done.exit_code == 0 and done.stderr == "" and f"_LIKEWISE_COMPLETE={shell}_complete" in done.stdout
    assert f"likewise completion {shell}" in run("completion", "--help").stdout
    lines = run("completion", "tcsh").stderr.splitlines()
    assert lines[:2] == ["likewise: error: unknown shell 'tcsh'; valid shells: bash, zsh, fish", "  Usage: likewise completion bash|zsh|fish"]
