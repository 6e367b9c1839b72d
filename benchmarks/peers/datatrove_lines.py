"""datatrove: its sentence deduplication of single lines (two tasks, two workers), and nothing else: no document is dropped for being short."""

import shutil
import sys
from pathlib import Path

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.text import TextNormConfig

TASKS = 2
#: Lines are the same if their words are, as for likewise: numbers and accents count.
SAME = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)


def main(corpus, target):
    """corpus: JSON lines. target: a folder for parts of the corpus, signatures and the output."""
    parts = target / "parts"
    parts.mkdir(parents=True)
    lines = Path(corpus).read_bytes().splitlines(keepends=True)
    for task in range(TASKS):
        (parts / f"{task}.jsonl").write_bytes(b"".join(lines[task * len(lines) // TASKS : (task + 1) * len(lines) // TASKS]))
    config = SentDedupConfig(n_sentences=1, split_sentences=False, min_doc_words=0, min_num_sentences=0, norm_config=SAME)
    signatures, found = str(target / "signatures"), str(target / "found")
    steps = [
        ([JsonlReader(str(parts)), SentenceDedupSignature(signatures, TASKS, config)], TASKS),
        ([SentenceFindDedups(signatures, found, config=config, lines_to_buffer=1000)], TASKS),
        ([JsonlReader(str(parts)), SentenceDedupFilter(found, config), JsonlWriter(str(target / "kept"), compression=None)], TASKS),
    ]
    for number, (pipeline, tasks) in enumerate(steps):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=TASKS, logging_dir=str(target / f"log{number}"), start_method="fork").run()
    shutil.rmtree(parts)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
