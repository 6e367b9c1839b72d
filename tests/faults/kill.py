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

from forks import Ended, Stage, WrongError, check, other_disk, prepare, small_chunks
from jobs import JOBS, snapshot
from points import LASTING, SIGNALS, Fault

STOPPED = {"KILL": -signal.SIGKILL, "TERM": 128 + signal.SIGTERM, "INT": 128 + signal.SIGINT}
#: Chances of how a run is stopped; how its first fault stops it is dealt, so that as many rounds as there are kinds have each kind.
DRAWN = {
    "KILL": 6,
    "KILL by the clock": 2,
    "TERM": 2,
    "TERM by the clock": 1,
    "INT": 2,
    "INT by the clock": 1,
    "ENOSPC": 3,
    "EIO": 2,
    "EIO on reading": 2,
    "EDQUOT": 1,
    "EROFS": 1,
    "EACCES": 1,
}
#: From this step on there is something to go on from.
BEGUN = "replace description.json.new"
#: As many are about what it takes to put an output into its place and to remove the work folder.
LAST_STEPS = 40
#: Lines of the journal that each run which goes on may write once more: of what had been deleted, and of what was about to be put into place.
TWICE = 2


def checked(stage: Stage, folder: Path, done: Ended, fault: Fault | None, had: int | None, before: int) -> None:
    """Check what must hold after every run, however it ended.

    had: whole lines of the journal that it went on from, None where there was nothing to go on from. before: how many runs came before it.
    """
    out, can_go_on = stage.out(folder), stage.can_go_on(folder)
    check(out in (stage.want, stage.old), f"the output is neither the whole new one nor the old one: {differing(out, stage.want)}", done)
    check("Traceback" not in done.said, "a trace", done)
    if done.status == 0 or fault is None:
        check(done.status == 0, "does not end when nothing disturbs it", done)
        check(out == stage.want, f"ended well, with other bytes: {differing(out, stage.want)}", done)
        left = lines(stage) + TWICE * before - (had or 0)
        check(lines(done) <= left, f"wrote {lines(done)} lines of the journal where {left} were left at most", done)
        return
    kept = can_go_on or out == stage.want or not stage.job.resumes
    taken = done.steps[: fault.at - 1 if fault.at and not fault.reading else -1]
    check(kept or (had is None and BEGUN not in taken), "what was done is lost", done)
    check(not can_go_on or stage.journal(folder) >= (had or 0), "the journal is shorter than it was", done)
    if fault.what in STOPPED:
        early = fault.after is not None and done.status == -SIGNALS[fault.what]  # before anything is ready for it
        check(done.status == STOPPED[fault.what] or early, f"status {done.status} after SIG{fault.what}", done)
    else:
        said = f"^likewise: error: .+: {os.strerror(getattr(errno, fault.what))}; ."
        check(done.status == 2, f"status {done.status} after {fault.what}", done)
        check(re.search(said, done.said, re.MULTILINE) is not None, "not said what was refused, where, and what to do", done)
    printed = "to continue: likewise" in done.said
    if fault.what != "KILL" and (printed or fault.after is None):
        check(printed == can_go_on, f"how to go on is {'not ' if can_go_on else ''}said", done)


def lines(ran: Ended | Stage) -> int:
    """How many lines a run wrote to its journal."""
    return ran.steps.count("write journal.jsonl")


def differing(found: dict[str, bytes], want: dict[str, bytes]) -> list[str]:
    return sorted(name for name in found.keys() | want.keys() if found.get(name) != want.get(name))


def next_command(stage: Stage, folder: Path, done: Ended) -> list[str]:
    """Return the command that a person types after a run was stopped: from the message, or from the leftovers if there is no message."""
    for line in done.said.splitlines():
        if "to continue: likewise " in line:
            return shlex.split(line.partition("to continue: likewise ")[2])
    return [*stage.command(folder), *(["--resume"] if stage.can_go_on(folder) else [])]


def disturbed(stage: Stage, folder: Path, faults: list[Fault], counts: Counter[str]) -> None:
    """Runs with these faults, one after the other, and one to its end without any; raises WrongError."""
    command = stage.command(folder)
    for number, fault in enumerate([*faults, None]):
        had = stage.journal(folder) if stage.can_go_on(folder) else None
        done = stage.run(command, folder, fault)
        checked(stage, folder, done, fault, had, number)
        if done.status == 0 or fault is None:
            counts["ended before it came"] += fault is not None
            break
        counts[fault.what] += 1
        if stage.out(folder) == stage.want and not stage.can_go_on(folder):
            break
        command = next_command(stage, folder, done)
    check(stage.out(folder) == stage.want, "other bytes")
    check(snapshot(stage.given) == stage.inputs, "an input was written to")
    temporary = [path for path in (folder / "temporary").iterdir() if any(snapshot(path).values())]  # made a moment before, it may stay, empty
    left = [path for path in (*folder.iterdir(), stage.work(folder), *temporary) if path.exists()]
    if any(fault.after is not None for fault in faults):  # one that made the work folder, and was killed before it marked it; later ones leave it
        left = [path for path in left if path != stage.work(folder) or any(path.iterdir())]
    disturbed_last = fault is not None  # then the work folder may be there, to be used by the next run
    expected = {stage.job.output, "temporary", *([stage.work(folder).name] if disturbed_last else [])}
    messy = not stage.job.resumes and not all(fault.what in ("INT", "TERM") for fault in faults)  # a new start has other names each time
    check(messy or {path.name for path in left} <= expected, f"left behind: {left}")


def dealt(draw: random.Random) -> Iterator[str]:
    """Kinds of faults without end: each kind once in any order, then as many more as make the shares those of DRAWN, and again."""
    while True:
        yield from draw.sample(list(DRAWN), len(DRAWN))
        yield from draw.sample(list(DRAWN), sum(DRAWN.values()) - len(DRAWN), counts=[number - 1 for number in DRAWN.values()])


def drawn(stage: Stage, draw: random.Random, first_kind: str) -> list[Fault]:
    """One to four faults. One in three strikes as the output is put into place."""
    faults = []
    for number in range(draw.choice((1, 1, 2, 3, 4))):
        what = draw.choices(list(DRAWN), list(DRAWN.values()))[0] if number else first_kind
        most = stage.reads if what == "EIO on reading" else len(stage.steps)
        first = most - LAST_STEPS if number == 0 and draw.random() < 1 / 3 else 1
        at = draw.randint(max(1, first), max(1, most if number == 0 else most // 2))  # there is less to do each time
        fault = Fault(what.split()[0], at, draw.random() < 0.5, what == "EIO on reading")
        faults.append(fault._replace(at=0, after=draw.uniform(0, stage.seconds)) if what.endswith("by the clock") else fault)
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
        plans = [(stage, drawn(stage, draw, kind)) for stage, kind, _ in zip(itertools.cycle(stages), dealt(draw), range(given.rounds), strict=False)]
    for number, (stage, faults) in enumerate(plans):
        folder = stage.new_round(f"round-{number}")
        try:
            disturbed(stage, folder, faults, counts)
        except WrongError as error:
            wrong += 1
            print(f"WRONG {stage.name} round {number} {faults}: {error}", flush=True)
            if given.keep:
                continue
        stage.remove(folder)
    kills = sum(counts[name] for name in SIGNALS)
    print(f"{len(plans)} rounds in {time.monotonic() - began:.0f} s, {wrong} wrong; {kills} kills survived; {dict(counts.most_common())}", flush=True)
    if not (wrong and given.keep):
        shutil.rmtree(base)
        shutil.rmtree(other_disk(base), ignore_errors=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
