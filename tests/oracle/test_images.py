"""The small pictures, hashes and similarity of images against slow definitions."""

import numpy as np
import pytest

from likewise.items.images import WIDTH, prepared
from likewise.items.perceptual import HASHES, packed, small_gray
from likewise.kernels.pictures import shrunk
from likewise.measures import images

DRAW = np.random.default_rng(1)


def picture(height: int, width: int, cells: int = 8, draw=DRAW) -> np.ndarray:
    """A smooth gray picture, uint8[height, width, 3], of about cells × cells light and dark spots."""
    waves = [(draw.uniform(-cells, cells, 2), draw.uniform(0, 7), draw.uniform(0.5, 1)) for _ in range(20)]
    y, x = np.mgrid[:height, :width]
    values = sum(size * np.sin(3 * (u * y / height + v * x / width) + phase) for (u, v), phase, size in waves)
    return colored(np.interp(values, (values.min(), values.max()), (0, 255)).astype(np.uint8))


def colored(gray: np.ndarray) -> np.ndarray:
    return np.repeat(gray[:, :, None], 3, axis=2)


def payloads(*pictures: np.ndarray) -> np.ndarray:
    return np.stack([prepared(one) for one in pictures])


def similarity(a: np.ndarray, b: np.ndarray) -> float:
    return images.similarity(payloads(a), payloads(b))[0]


@pytest.mark.parametrize("shape", [(1, 1, 3), (5, 7, 3), (33, 100, 1), (96, 64, 3)])
def test_a_part_of_the_small_picture_is_the_mean_of_its_pixels(shape):
    given = DRAW.integers(0, 256, shape, np.uint8)
    side = 32
    larger = given.repeat(side, axis=0).repeat(side, axis=1)  # every part has whole pixels
    means = larger.reshape(side, shape[0], side, shape[1], -1).mean(axis=(1, 3))
    assert (shrunk(given, side) == np.floor(means + 0.5)).all()


def test_gray_values_weigh_red_green_and_blue():
    colors = np.array([[[0, 0, 100], [0, 100, 0], [100, 0, 0], [30, 20, 10]]], np.uint8)
    assert small_gray(colors, 4)[0].tolist() == [11, 59, 30, 22]


def test_bits_are_packed_with_the_first_one_lowest():
    bits = np.zeros((1, 128), bool)
    bits[0, [0, 5, 64, 127]] = True
    assert packed(bits).tolist() == [[1 + 2**5, 1 + 2**63]]


@pytest.mark.parametrize("bits", [64, 256])
def test_hashes_follow_their_definitions(bits):
    low, small = int(bits**0.5), np.stack([small_gray(picture(64, 64)) for _ in range(10)])
    for one, average, difference, dct in zip(small.astype(float), *(HASHES[name](small, bits) for name in ("ahash", "dhash", "phash")), strict=True):
        parts = one.reshape(low, 64 // low, low, 64 // low).mean(axis=(1, 3))
        assert (average == (parts > parts.mean()).ravel()).all()
        wide = one.repeat(low + 1, axis=1).reshape(low, 64 // low, low + 1, 64).mean(axis=(1, 3))
        assert (difference == (wide[:, 1:] > wide[:, :-1]).ravel()).all()
        waves = np.cos(np.pi / 64 * np.outer(np.arange(low), np.arange(64) + 0.5))
        values = (waves @ (one - one.mean()) @ waves.T).ravel()
        assert (dct != (values > np.median(values))).sum() <= 2  # waves are integers, so a value next to the median may change sides


def test_a_picture_of_one_color_has_an_empty_hash():
    for name in HASHES:
        assert not HASHES[name](np.full((1, 64, 64), 77, np.uint8), 64).any(), name
    assert not images.hashes_of(np.full((1, WIDTH), 77, np.uint8)).any()


def test_copies_are_similar_and_have_near_hashes():
    whole = picture(200, 260)
    for name, copy in {
        "cropped": whole[6:196, 3:250],
        "half as large": whole[::2, ::2],
        "brighter": np.clip(whole.astype(int) // 2 + 90, 0, 255).astype(np.uint8),
        "noisy": np.clip(whole + DRAW.normal(0, 8, whole.shape), 0, 255).astype(np.uint8),
    }.items():
        assert similarity(whole, copy) > 0.9, name
        both = images.hashes_of(payloads(whole, copy))
        assert np.bitwise_count(both[0] ^ both[1]).sum() <= images.WITHIN, name


def test_other_images_are_not_similar():
    many = payloads(*(picture(64, 64) for _ in range(20)))
    a, b = np.triu_indices(20, 1)
    assert images.similarity(many[a], many[b]).max() < 0.6
    disk, square = np.full((48, 48), 255, np.uint8), np.full((48, 48), 255, np.uint8)
    y, x = np.mgrid[:48, :48] - 23.5
    disk[x**2 + y**2 < 225], square[10:38, 10:38] = 40, 40
    assert similarity(colored(disk), colored(square)) < images.THRESHOLD


def test_the_similarity_is_symmetric_and_within_its_range():
    many = payloads(*(picture(40, 40, cells) for cells in (1, 2, 3, 4)), np.full((3, 3, 3), 9, np.uint8), DRAW.integers(0, 256, (9, 9, 3), np.uint8))
    a, b = (each.ravel() for each in np.indices((6, 6)))
    values = images.similarity(many[a], many[b]).reshape(6, 6)
    assert (values == values.T).all()
    assert (np.diag(values) == 1).all()
    assert ((values >= 0) & (values <= 1)).all()


def test_pictures_of_one_color_are_compared_by_their_gray():
    def of(gray: int) -> np.ndarray:
        return np.full((10, 10, 3), gray, np.uint8)

    assert similarity(of(200), of(200)) == 1
    assert similarity(of(200), of(204)) == 0.75
    assert similarity(of(200), of(100)) == 0
    assert similarity(of(200), picture(40, 40)) < 0.1


def reference(a: np.ndarray, b: np.ndarray) -> float:
    """The similarity of two small pictures, not of one color, by its definition."""

    def normal(values):
        values = (values - values.mean()) / max(values.std(), 4)
        for axis in (1, 0):
            edge = np.take(np.pad(values, 1, mode="edge"), range(1, values.shape[1 - axis] + 1), axis=1 - axis)
            before, here, after = (np.take(edge, np.arange(values.shape[axis]) + step, axis=axis) for step in range(3))
            values = (before + 2 * here + after) / 4
        return values

    def moved(values, scale, shift):
        side = len(values)
        places = [(side - 1) / 2 + scale[axis] * (np.arange(side) - (side - 1) / 2) + shift[axis] * side for axis in range(2)]
        (x, y), inside = places, [(place >= -0.5) & (place <= side - 0.5) for place in places]
        rows = np.stack([np.interp(x, np.arange(side), row) for row in values])
        return np.stack([np.interp(y, np.arange(side), column) for column in rows.T]).T, np.outer(inside[1], inside[0])

    def aligned(values, target, steps, scale, shift):
        side = len(target)
        edge = np.pad(target, 1, mode="edge")
        across, down = (edge[1:-1, 2:] - edge[1:-1, :-2]) / 2, (edge[2:, 1:-1] - edge[:-2, 1:-1]) / 2
        away = np.arange(side) - (side - 1) / 2
        slopes = np.stack([across * away, across * side, down * away[:, None], down * side, target, np.ones_like(target)], axis=-1)
        normal = np.einsum("yxi,yxj->ij", slopes, slopes)
        normal += np.diag(0.0001 * np.diag(normal) + 1e-6 * side**2)
        for _ in range(steps):
            there, inside = moved(values, scale, shift)
            change = np.linalg.solve(normal, (slopes * ((there - target) * inside)[:, :, None]).sum(axis=(0, 1)))
            contrast = max(1 + change[4], 0.25)
            new = np.clip(scale / (1 + np.clip(change[[0, 2]] / contrast, -0.2, 0.2)), 0.8, 1.25)
            place = np.clip(shift - new * change[[1, 3]] / contrast, -0.125, 0.125)
            still = max(np.abs(new - scale).max(), 2 * np.abs(place - shift).max()) * side < 0.04
            scale, shift = new, place
            if still:
                break
        return scale, shift

    def correlated(values, target):
        halves = [each.reshape(16, 2, 16, 2).mean(axis=(1, 3)) for each in (values, target)]
        place = aligned(*halves, 6, np.ones(2), np.zeros(2))
        there, inside = moved(values, *aligned(values, target, 4, *place))
        total = weights = 0.0
        for top in range(0, 27, 2):
            for left in range(0, 27, 2):
                block = (slice(top, top + 6), slice(left, left + 6))
                if inside[block].sum() >= 18:
                    x, y = there[block][inside[block]], target[block][inside[block]]
                    larger = max(x.var(), y.var())
                    if larger > 0.01:
                        weight = (larger - 0.01) ** 0.125
                        total += weight * np.mean((x - x.mean()) * (y - y.mean())) / (x.std() * y.std() + 0.01)
                        weights += weight * larger / (larger + 0.01)
        return total / weights

    x, y = normal(a.astype(float)), normal(b.astype(float))
    return min(max(correlated(x, y), correlated(y, x), 0), 1) ** 2


def test_the_similarity_follows_its_definition():
    whole = picture(90, 90, 3)
    given = [small_gray(picture(32, 32, cells), 32) for cells in (1, 2, 3)]
    given += [small_gray(whole, 32), small_gray(whole[4:86, 2:88], 32), small_gray(whole[10:, :], 32)]
    flat = np.stack([one.ravel() for one in given])
    for i in range(len(given)):
        for j in range(i):
            expected = reference(given[i], given[j])
            assert images.similarity(flat[[i]], flat[[j]])[0] == pytest.approx(expected, abs=1e-6), (i, j)
