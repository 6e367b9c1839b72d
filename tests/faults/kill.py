"""Kills runs at drawn steps and moments, lets them go on, kills those too, and compares what comes out with undisturbed runs, byte for byte.

python tests/faults/kill.py --rounds 1000            # drawn faults
python tests/faults/kill.py --every --jobs texts     # every step of a run, one after the other
"""

from __future__ import annotations

import argparse
import errno
import itertools
import os
import random
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from forks import Ended, Stage, WrongError, check, new_round, other_disk, prepare, small_chunks
from jobs import JOBS, snapshot
from points import LASTING, SIGNALS, Fault

STOPPED = {"KILL": -signal.SIGKILL, "TERM": 128 + signal.SIGTERM, "INT": 128 + signal.SIGINT}
#: Chances of how a run is stopped.
DRAWN = {"KILL": 8, "TERM": 3, "INT": 3, "ENOSPC": 3, "EIO": 2, "EIO on reading": 2, "EDQUOT": 1, "EROFS": 1, "EACCES": 1}
#: From this step on there is something to go on from.
BEGUN = "replace work.json.new"
#: As many are about what it takes to put an output into its place and to remove the work folder.
LAST_STEPS = 40


def judged(stage: Stage, folder: Path, done: Ended, fault: Fault | None, had: bool) -> None:
    """What holds whenever a run has ended, however it did. ``had``: there was something to go on from before."""
    out, resumable = snapshot(folder / "out"), stage.can_go_on(folder)
    check(out in (stage.want, stage.old), f"the output is neither the whole new one nor the old one: {differing(out, stage.want)}", done)
    check("Traceback" not in done.said, "a trace", done)
    if done.status == 0 or fault is None:
        check(done.status == 0, "does not end when nothing disturbs it", done)
        check(out == stage.want, f"ended well, with other bytes: {differing(out, stage.want)}", done)
        return
    begun = had or BEGUN in done.steps[: fault.at - 1 if fault.at else None]
    check(resumable or out == stage.want or not begun, "what was done is lost", done)
    if fault.what in STOPPED:
        early = fault.after is not None and done.status == -SIGNALS[fault.what]  # before anything is ready for it
        check(done.status == STOPPED[fault.what] or early, f"status {done.status} after SIG{fault.what}", done)
    else:
        said = f"^likewise: error: .+: {os.strerror(getattr(errno, fault.what))}; ."
        check(done.status == 2, f"status {done.status} after {fault.what}", done)
        check(re.search(said, done.said, re.MULTILINE) is not None, "not said what was refused, where, and what to do", done)
    told = "go on with: likewise" in done.said
    if fault.what != "KILL" and (told or fault.after is None):
        check(told == resumable, f"how to go on is {'not ' if resumable else ''}said", done)


def differing(found: dict[str, bytes], want: dict[str, bytes]) -> list[str]:
    return sorted(name for name in found.keys() | want.keys() if found.get(name) != want.get(name))


def next_command(stage: Stage, folder: Path, done: Ended) -> list[str]:
    """What a person types after a run was stopped: what the message says, or, where it could say nothing, what its leftovers call for."""
    for line in done.said.splitlines():
        if "go on with: likewise " in line:
            return shlex.split(line.partition("go on with: likewise ")[2])
    return [*stage.command(folder), *(["--resume"] if stage.can_go_on(folder) else [])]


def disturbed(stage: Stage, folder: Path, faults: list[Fault], counts: Counter[str]) -> None:
    """A run with these faults, one after the other, and to its end without any; raises WrongError."""
    command = stage.command(folder)
    new_round(stage, folder)
    for fault in [*faults, None]:
        had = stage.can_go_on(folder)
        done = stage.run(command, folder, fault)
        judged(stage, folder, done, fault, had)
        if done.status == 0 or fault is None:
            counts["too late"] += fault is not None
            break
        counts[fault.what] += 1
        if not stage.can_go_on(folder) and snapshot(folder / "out") == stage.want:
            counts["when done"] += 1
            break
        command = next_command(stage, folder, done)
    check(snapshot(folder / "out") == stage.want, "other bytes")
    check(snapshot(stage.folder) == stage.inputs, "an input was written to")
    left = {path.name for path in folder.iterdir()} - {"out"} | ({stage.work(folder).name} if stage.work(folder).exists() else set())
    check(left <= {f".{stage.work(folder).name}.removed"}, f"left behind: {sorted(left)}")
    shutil.rmtree(folder)


def drawn(stage: Stage, draw: random.Random) -> list[Fault]:
    """One to four faults; of the signals one in four comes by the clock and not at a step. One in three strikes as the output is put into place."""
    faults = []
    for number in range(draw.choice((1, 1, 2, 3, 4))):
        what = draw.choices(list(DRAWN), list(DRAWN.values()))[0]
        most = stage.reads if what == "EIO on reading" else len(stage.steps)
        first = most - LAST_STEPS if number == 0 and draw.random() < 1 / 3 else 1
        at = draw.randint(max(1, first), max(1, most if number == 0 else most // 2))  # there is less to do each time
        by_clock = what in SIGNALS and draw.random() < 0.25
        fault = Fault(what.split()[0], at, draw.random() < 0.5, what == "EIO on reading")
        faults.append(fault._replace(at=0, after=draw.uniform(0, stage.seconds)) if by_clock else fault)
    return faults


def every(stage: Stage, kinds: list[str]) -> Iterator[list[Fault]]:
    """A fault at each step in turn, and at writes and copies also when half is done."""
    for what in kinds:
        for at, step in enumerate(stage.steps, 1):
            yield from ([Fault(what, at, torn)] for torn in ((False, True) if step.startswith(("write", "sendfile")) else (False,)))
        if what == "EIO":
            yield from ([Fault(what, at, reading=True)] for at in range(1, stage.reads + 1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", nargs="*", default=list(JOBS), choices=list(JOBS))
    parser.add_argument("--every", nargs="*", choices=[*SIGNALS, *LASTING, "EIO"], help="each step in turn, in place of drawn ones")
    parser.add_argument("--keep", action="store_true", help="leave the folders of what went wrong")
    given = parser.parse_args()
    small_chunks()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has what it runs in the background ignore it
    base = Path(tempfile.mkdtemp(prefix="likewise-faults-"))
    other_disk().mkdir(exist_ok=True)
    counts: Counter[str] = Counter()
    wrong = 0
    began = time.monotonic()
    stages = [prepare(name, base) for name in given.jobs]
    for stage in stages:
        print(f"{stage.name}: {len(stage.steps)} steps, {stage.reads} that read, {stage.seconds:.2f} s, {len(stage.want)} files", flush=True)
    print(f"prepared in {time.monotonic() - began:.0f} s", flush=True)
    if given.every is not None:
        plans = [(stage, faults) for stage in stages for faults in every(stage, given.every or ["KILL"])]
    else:
        draw = random.Random(given.seed)
        plans = [(stage, drawn(stage, draw)) for stage, _ in zip(itertools.cycle(stages), range(given.rounds), strict=False)]
    for number, (stage, faults) in enumerate(plans):
        folder = base / stage.name / f"round-{number}"
        try:
            disturbed(stage, folder, faults, counts)
        except WrongError as error:
            wrong += 1
            print(f"WRONG {stage.name} round {number} {faults}: {error}", flush=True)
            if not given.keep:
                shutil.rmtree(folder, ignore_errors=True)
                shutil.rmtree(stage.work(folder), ignore_errors=True)
    print(f"{len(plans)} rounds in {time.monotonic() - began:.0f} s, {wrong} wrong; stopped: {dict(counts)}", flush=True)
    if not (wrong and given.keep):
        shutil.rmtree(base)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
