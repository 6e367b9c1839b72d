"""The first run on a machine, which compiles."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from command_line import SOURCE, TEXTS
from likewise.engines.local import usable_cores

#: All that a run on JSON lines needs beside what the second process compiles.
OWN = {"json.lines", "json.read", "json_strings.identities", "elements.hash_strings", "text.normalise", "bytes.gather"}


def test_the_second_process_compiles_what_the_run_needs(tmp_path: Path) -> None:
    """Kernels are compiled for the types of what they are given. Were those of the second process others than the run's, it would help in nothing."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": SOURCE}

    def compiled() -> set[str]:
        return {path.name for path in (tmp_path / "kernels").rglob("*.nbc")}

    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": name, "text": " ".join(words)}) + "\n" for name, words in TEXTS.items()))
    subprocess.run([sys.executable, "-P", "-m", "likewise.cli.compiling", str(tmp_path / "work")], env=env, check=True)
    assert not (tmp_path / "work").exists()
    before = compiled()
    assert before
    done = subprocess.run([sys.executable, "-m", "likewise", "dedup", "a.jsonl", "-o", "o"], env=env, cwd=tmp_path, check=True, capture_output=True)
    assert b"compiling" not in done.stderr
    assert {name.split("-")[0] for name in compiled() - before} == OWN
    assert not {name.split("-")[0] for name in before} & OWN


def test_the_first_run_says_so_and_leaves_no_process_and_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "PYTHONPATH": SOURCE, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-m", "likewise", "dedup", "-", "-o", "o"]  # nothing is compiled that an empty input does not need
    done = subprocess.run(command, env=env, cwd=tmp_path, check=True, capture_output=True, input=b"")
    assert b"compiling for this machine, which only the first run waits for" in done.stderr
    others = [Path(f"/proc/{pid}/cmdline") for pid in os.listdir("/proc") if pid.isdigit()] if usable_cores() > 1 else []
    assert not [line for path in others if path.exists() and os.fsencode(tmp_path) in (line := path.read_bytes())]
    assert not list((tmp_path / "temporary").iterdir())
