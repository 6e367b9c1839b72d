#!/usr/bin/env python3
"""Measures of similarity of articles, compared with the judgments of people.

    pip install gensim
    python benchmarks/judgments.py

Lee, Pincombe and Welsh (An empirical evaluation of models of text document similarity, 2005) had people judge the similarity of all pairs of 50 news
articles. gensim has the articles, the mean judgments, and 300 more articles, which tell here how common words are. Prints for each measure the
correlation with the judgments (Pearson), and the average precision of the pairs that people judged at 0.7 or more.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import likewise as lw
from likewise.measures.ranking import average_precision

#: Pairs judged at this or more count as articles of one story.
SAME = 0.7
COMMON = 0.05  # shingles in more than this share of all articles


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


def main() -> None:
    (package,) = find_spec("gensim").submodule_search_locations
    data = Path(package) / "test" / "test_data"
    judged = [line for line in (data / "lee.cor").read_text("latin-1").split("\n") if line]
    articles = judged + [line for line in (data / "lee_background.cor").read_text().split("\n") if line]
    pairs = np.triu_indices(len(judged), 1)
    judgments = np.loadtxt(data / "similarities0-1.txt")[pairs]

    documents = Counter(word for article in articles for word in words(article))
    rarity = {word: math.log(len(articles) / n) for word, n in documents.items()}
    weights = [{word: (1 + math.log(n)) * rarity[word] for word, n in words(article).items()} for article in judged]
    number = {word: i for i, word in enumerate(documents)}
    vectors = [{"indices": [number[word] for word in weight], "values": list(weight.values())} for weight in weights]
    rare = [" ".join(word for word in re.findall(r"\w+", article.lower()) if documents[word] <= COMMON * len(articles)) for article in judged]

    def report(name: str, items: list[Any], by: str) -> None:
        values = np.array([lw.similarity(items[a], items[b], by=by) for a, b in zip(*pairs, strict=True)])
        order = np.argsort(-values, kind="stable")
        precision = average_precision((judgments >= SAME)[order])
        print(f"{name:28} {np.corrcoef(values, judgments)[0, 1]:.2f}  {precision:.2f}")

    print(f"{len(judgments)} pairs, {(judgments >= SAME).sum()} of them at {SAME} or more")
    for by in ("words:5", "words:3", "words:2", "words:1", "chars:5"):
        report(by, judged, by)
    report("words:1 without common ones", rare, "words:1")
    report("words:1, weighted", weights, "weighted")
    report("words:1, cosine of weights", vectors, "cosine")


if __name__ == "__main__":
    main()
