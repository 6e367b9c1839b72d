"""Sets of feature vectors: compared as they are, or by histograms that are made of them."""

from __future__ import annotations

from likewise.kinds import sparse, weighted
from likewise.kinds.kind import NEVER, NOT_PROMISED, Kind, MeasureFacts
from likewise.kinds.vectors import COSINE

NO_DIRECTION = "without a feature that has a direction"
ONE_TO_ONE = MeasureFacts(
    "features",
    "likewise.measures.feature_sets:one_to_one",
    "the share of their features that can be paired one with one, by histograms of directions: the lesser counts of the bins, summed, divided "
    "by the sum of the greater; 1 is equal",
    empty=NO_DIRECTION,
    real=True,
    parts="bins",
    becomes=(weighted.KIND.name, weighted.WEIGHTED.name),
)
ONE_TO_MANY = MeasureFacts(
    "features/one-to-many",
    "likewise.measures.feature_sets:one_to_many",
    "the cosine of the counts of their histograms of directions: the pairs of features that share a bin; 1 is equal",
    empty=NO_DIRECTION,
    real=True,
    becomes=(sparse.KIND.name, COSINE.name),
)
CHAMFER = MeasureFacts(
    "features/chamfer",
    "likewise.measures.feature_sets:chamfer",
    "the mean cosine of a feature and the nearest one of the other set, the mean of both ways; 1 is equal",
    empty=NO_DIRECTION,
    real=True,
)
ASSIGNMENT = MeasureFacts(
    "features/assignment",
    "likewise.measures.feature_sets:assignment",
    "the sum of the cosines of features that are paired one with one in the best way, divided by the size of the larger set; 1 is equal",
    empty=NO_DIRECTION,
    real=True,
)


class FeatureSets(Kind):
    """Sets of vectors of one dimension, of which the directions count."""

    name, noun, item = "feature sets", "set of features", "a set of feature vectors"
    field = payload = "features"
    holds = "set of features"
    measures = (ONE_TO_ONE, ONE_TO_MANY, CHAMFER, ASSIGNMENT)
    bands, recall = NEVER, NOT_PROMISED
    needs_data = True


KIND = FeatureSets()
