"""Fixed-dimensional encodings: by a slow reference implementation, by what they can never exceed, and where Chamfer similarity is met exactly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from likewise.errors import UsageError
from likewise.families import Encoding, Hyperplane, Space
from likewise.items.features import features
from likewise.measures.chamfer import chamfer

DIMENSION = 4


def some_sets(count: int = 8, seed: int = 1, most: int = 12) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    return [draw.normal(size=(draw.integers(1, most), DIMENSION)).astype(np.float32) for _ in range(count)]


def by_hand(family: Encoding, one: np.ndarray, means: bool) -> np.ndarray:
    """Bin by bin: sums, or means; a bin without a feature has what the first of the nearest codes has."""
    bits = Hyperplane(family.tables * family.bits, seed=family.seed).signature(one).reshape(len(one), family.tables, family.bits)
    codes = (bits.astype(int) << np.arange(family.bits)).sum(axis=2)
    out = np.zeros((family.tables, 1 << family.bits, one.shape[1]))
    for table in range(family.tables):
        filled = sorted(set(codes[:, table].tolist()))
        for code in range(1 << family.bits):
            source = min(filled, key=lambda other: ((other ^ code).bit_count(), other)) if means else code
            here = one[codes[:, table] == source].astype(float)
            if len(here):
                out[table, code] = here.mean(axis=0) if means else here.sum(axis=0) / family.tables
    return out.ravel()


@pytest.mark.parametrize("bits", [1, 3, 6])
def test_encodings_by_a_slow_reference(bits):
    family, sets = Encoding(bits, tables=3, seed=5), some_sets()
    queries, documents = family.queries(sets), family.documents(sets)
    assert queries.shape == documents.shape == (len(sets), 3 * 2**bits * DIMENSION)
    for one, query, document in zip(sets, queries, documents, strict=True):
        np.testing.assert_allclose(query, by_hand(family, one, False), atol=1e-6)
        np.testing.assert_allclose(document, by_hand(family, one, True), atol=1e-6)


def test_documents_of_one_feature_are_met_exactly():
    """Every bin of the document then has that feature, and the product is the query's sum of products with it."""
    family = Encoding(4, tables=3)
    sets, single = some_sets(6), some_sets(6, seed=2, most=2)
    found = (family.queries(sets) * family.documents(single)).sum(axis=1)
    np.testing.assert_allclose(found, [(one @ document[0]).sum() for one, document in zip(sets, single, strict=True)], rtol=1e-5, atol=1e-5)


def test_never_more_than_chamfer():
    """A mean of some of a document's features is no nearer than the nearest of all."""
    sets, others = some_sets(40, most=60), some_sets(40, seed=3, most=60)
    sizes = np.array([len(one) for one in sets])
    exact = chamfer(features(sets), features(others), by="product") * sizes
    for bits in (1, 3, 5):
        family = Encoding(bits, tables=4)
        assert ((family.queries(sets) * family.documents(others)).sum(axis=1) <= exact + 1e-4 * sizes).all()


def test_more_bits_come_nearer():
    """To queries whose features are in the document: Chamfer by cosine is 1, and more bins leave less in a mean beside the feature itself."""
    draw = np.random.default_rng(4)
    documents = draw.normal(size=(30, 40, 6))
    queries = documents[:, :10]
    space = Space(np.zeros(6), unit=True)
    means = []
    for bits in (1, 3, 5, 7):
        family = Encoding(bits, tables=6, space=space)
        means.append(float((family.queries(queries) * family.documents(documents)).sum(axis=1).mean() / 10))
    assert means == sorted(means)
    assert means[0] < 0.6
    assert 0.8 < means[3] < 1


def test_an_encoding_is_that_of_the_item_alone():
    family, sets = Encoding(3, tables=2), some_sets(600, most=60)
    documents = family.documents(sets)
    with ThreadPoolExecutor(3) as pool:
        assert (family.documents(sets, run=pool.map) == documents).all()
        assert (family.queries(sets, run=pool.map)[40:43] == family.queries(sets[40:43])).all()
    assert (family.documents(sets[333:334]) == documents[333:334]).all()


def positive_sets(count: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Sets of features without negative numbers, as gradients and colors are, and a noisy copy of most of each."""
    draw = np.random.default_rng(6)
    a = np.abs(draw.normal(2, 0.4, (count, 30, 16)))
    b = np.abs(a + draw.normal(0, 0.15, a.shape))
    b[:, 15:] = np.abs(draw.normal(2, 0.4, (count, 15, 16)))
    return a, b


def found_first(queries: np.ndarray, documents: np.ndarray) -> float:
    return float(((queries @ documents.T).argmax(axis=1) == np.arange(len(queries))).mean())


def test_features_without_negative_numbers():
    """Planes through the origin leave all in a few bins: the copy is seldom found. From a center it is, one of a sample of other sets too."""
    a, b = positive_sets()
    other = Space.fit(positive_sets(40)[0][::-1] + 0.01, unit=True)
    share = {}
    for name, space in (("origin", Space(np.zeros(16), unit=True)), ("fitted", Space.fit(b, unit=True)), ("on others", other)):
        family = Encoding(4, tables=8, space=space)
        share[name] = found_first(family.queries(a), family.documents(b))
    assert share["fitted"] > 0.9
    assert share["on others"] > 0.9
    assert share["origin"] < 0.5
    with pytest.raises(UsageError, match=r"no negative numbers.*space=Space\.fit"):
        Encoding(4, tables=8).documents(b)


def test_axes_make_encodings_shorter():
    a, b = positive_sets()
    family = Encoding(4, tables=8, space=Space.fit(b, 8, unit=True))
    assert family.documents(b).shape == (len(b), 8 * 16 * 8)
    assert found_first(family.queries(a), family.documents(b)) > 0.6


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"bits": 0}, "Encoding bits 0"),
        ({"bits": 13}, "Encoding bits 13"),
        ({"tables": 0}, "Encoding tables 0"),
        ({"seed": -1}, "Encoding seed -1"),
        ({"space": 1}, "give a Space"),
    ],
)
def test_refused_fields(fields, said):
    with pytest.raises(UsageError, match=said):
        Encoding(**fields)


def test_refused_sets():
    with pytest.raises(UsageError, match="row 1: feature 2 of 2 is the zero vector"):
        Encoding().documents([[[1.0, -1.0]], [[1.0, 2.0], [0.0, 0.0]]])
    with pytest.raises(UsageError, match="row 1 has no features"):
        Encoding().queries([[[1.0, -1.0]], []])
    assert Encoding(2, 1).documents([]).shape[0] == 0
