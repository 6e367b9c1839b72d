"""copydetect: each suspect compared with each file of the corpus, with its defaults; the copied characters of suspects, by pair of files.

With the argument ``plain`` it compares the code as it is; by default it replaces the names of variables, functions and objects by letters first.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from copydetect import CopyDetector

corpus, suspects, target, *plain = sys.argv[1:]


def unpack(source, folder):
    """One file per row, named by the number of the row."""
    folder.mkdir()
    with open(source) as lines:
        for number, line in enumerate(lines):
            (folder / f"{number}.py").write_text(json.loads(line)["text"])


with tempfile.TemporaryDirectory() as name:
    unpack(corpus, Path(name) / "corpus")
    unpack(suspects, Path(name) / "suspects")
    detector = CopyDetector(
        test_dirs=[f"{name}/suspects"],
        ref_dirs=[f"{name}/corpus"],
        extensions=["py"],
        display_t=0,
        autoopen=False,
        silent=True,
        disable_filtering=bool(plain),
    )
    detector.run()
    rows = [
        (int(Path(suspect).stem), begin, end, int(Path(source).stem))
        for (suspect, source), (here, _) in detector.slice_matrix.items()
        if len(here)
        for begin, end in here.T.astype(int).tolist()
    ]
np.save(target, np.array(rows, np.int64).reshape(-1, 4))
