"""The floor: decode the text of every row with the fastest available reader on all cores, and copy the file, in one process.

With ``encode``: read every column, and write five of six rows in the format and compression of the file: what remains of a compressed file
cannot be copied.
"""

import shutil
import sys

import duckdb

COLUMNS = "format='newline_delimited', columns={id: 'BIGINT', text: 'VARCHAR'}"
FORMATS = {"parquet": ("read_parquet(?)", "parquet, compression zstd"), "jsonl": (f"read_json(?, {COLUMNS})", "json, compression zstd")}

corpus, target, *encode = sys.argv[1:]
reader, writer = FORMATS["parquet" if corpus.endswith(".parquet") else "jsonl"]
if encode:
    duckdb.execute(f"copy (select * from {reader} where id % 6 != 0) to '{target}' (format {writer})", [corpus])
else:
    print(duckdb.execute(f"select sum(strlen(text)) from {reader}", [corpus]).fetchall())
    shutil.copyfile(corpus, target)
