"""Write tests/golden: one small folder of each format on disk, as this version of likewise writes it.

    python tools/make_golden.py

tests/outputs/test_formats.py reads them with the likewise of the day. Run this only when a format has changed on purpose, after its version was
raised (docs/reference/formats.md). Folders of older formats stay beside the new ones, under the names of their versions.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

import likewise as lw
from likewise.io.output import write_sealed
from likewise.report import verdicts

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "golden"
TEXTS = {
    "a": "The first train to Lisbon leaves at six from platform two.",
    "b": "The first train to Lisbon leaves at seven from platform two.",
    "c": "Tickets are sold in the hall.",
    "d": "The first train to Lisbon leaves at six from platform two.",
}
OPTIONS = {"by": "words:2", "threshold": 0.6, "bands": 4, "rows": 2}


class Stop(lw.Progress):
    """Interrupts a run after it has read its inputs."""

    def begin(self, stage: str, total: int | None, unit: str) -> None:
        super().begin(stage, total, unit)
        if stage == "grouping bands":
            raise KeyboardInterrupt


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    os.chdir(FOLDER)
    Path("pages.jsonl").write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in TEXTS.items()))
    os.utime("pages.jsonl", ns=(10**18, 10**18))
    lw.dedup("pages.jsonl", out="out", sketches=True, **OPTIONS)
    Path("out/report.html").unlink()  # `likewise report` makes it again
    run = json.loads(Path("out/run.json").read_text()) | {"system": "Linux", "command": None}
    run["inputs"][0]["path"] = "/data/pages.jsonl"  # this machine's folders are nobody's business
    del run["checksum"]
    write_sealed(run, Path("out/run.json"))
    verdicts.append(Path("out.verdicts.jsonl"), verdicts.digest_of(json.loads(Path("out/manifest.json").read_text())), 0, "same", {})
    for sets in ("full", "compact", "none"):
        with lw.Index.create(f"index-{sets}", sets=sets, **OPTIONS) as index:
            index.add([TEXTS["a"], TEXTS["c"]], ids=["a", "c"])
            index.compact()  # a segment, with a removed item, and a log behind it
            index.remove(["c"])
            index.add([TEXTS["b"]], ids=["b"])
    with suppress(KeyboardInterrupt):
        lw.dedup("pages.jsonl", out="interrupted", work="work", progress=Stop(), **OPTIONS)


if __name__ == "__main__":
    main()
