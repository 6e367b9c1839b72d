"""Scripts for decontamination in short: a dictionary of the suspects' runs of N words, in which each run of the corpus is looked up."""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

corpus, suspects, target, size = *sys.argv[1:4], int(sys.argv[4])
WORD = re.compile(r"\w+")
known, places = defaultdict(list), []
with open(suspects) as lines:
    for suspect, line in enumerate(lines):
        text = json.loads(line)["text"].lower()
        spans = [match.span() for match in WORD.finditer(text)]
        words = [text[begin:end] for begin, end in spans]
        places.append(spans)
        for at in range(len(words) - size + 1):
            known[" ".join(words[at : at + size])].append((suspect, at))
found = []
with open(corpus) as lines:
    for row, line in enumerate(lines):
        words = WORD.findall(json.loads(line)["text"].lower())
        runs = (" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
        found += sorted({(suspect, row, at) for run in runs if run in known for suspect, at in known[run]})
merged = []  # runs that follow each other are one passage
for suspect, row, at in found:
    if merged and merged[-1][:2] == [suspect, row] and at == merged[-1][3] - size + 1:
        merged[-1][3] = at + size
    else:
        merged.append([suspect, row, at, at + size])
rows = [(suspect, places[suspect][begin][0], places[suspect][end - 1][1], row) for suspect, row, begin, end in merged]
np.save(Path(target), np.array(rows, np.int64).reshape(-1, 4))
