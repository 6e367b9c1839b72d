"""Near-duplicates removed with MinHashLSH of Spark's MLlib: of each pair that its join finds, the later document goes, unless the earlier one went.

    python spark_mllib.py CORPUS.jsonl OUT MASTER [TABLES]

The join compares its candidates by the sets of hashed runs of five words. It has no bands: each table has one function.
"""

from __future__ import annotations

import sys

from pyspark.ml.feature import HashingTF, MinHashLSH, NGram
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

corpus, out, master, tables = [*sys.argv[1:], "5"][:4]
spark = SparkSession.builder.appName("mllib").master(master).getOrCreate()
documents = spark.read.schema("id long, text string").json(corpus)
words = documents.withColumn("words", F.split(F.trim("text"), r"\s+"))
sets = HashingTF(numFeatures=1 << 20, binary=True, inputCol="runs", outputCol="set").transform(
    NGram(n=5, inputCol="words", outputCol="runs").transform(words)
)
sets = sets.select("id", "set").cache()
model = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=int(tables), seed=1).fit(sets)
joined = model.approxSimilarityJoin(sets, sets, 0.2 + 1e-9, distCol="distance").where("datasetA.id < datasetB.id")
pairs = sorted(
    (row.later, row.earlier) for row in joined.select(F.col("datasetB.id").alias("later"), F.col("datasetA.id").alias("earlier")).collect()
)
removed: set[int] = set()
for later, earlier in pairs:
    if earlier not in removed:
        removed.add(later)
gone = spark.createDataFrame([(number,) for number in sorted(removed)], "id long")
documents.join(gone, "id", "left_anti").write.json(out)
spark.stop()
