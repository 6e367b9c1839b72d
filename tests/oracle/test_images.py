"""The small pictures, hashes and similarity of images against slow definitions."""

import numpy as np
import pytest

from likewise.items.images import WIDTH, prepared
from likewise.items.perceptual import dct_bits, packed
from likewise.kernels.pictures import shrunk
from likewise.measures import images

DRAW = np.random.default_rng(1)


@pytest.mark.parametrize("shape", [(1, 1, 3), (5, 7, 3), (33, 100, 1), (96, 64, 3)])
def test_a_part_of_the_small_picture_is_the_mean_of_its_pixels(shape):
    picture = DRAW.integers(0, 256, shape, np.uint8)
    side = 32
    larger = picture.repeat(side, axis=0).repeat(side, axis=1)  # every part has whole pixels
    means = larger.reshape(side, shape[0], side, shape[1], -1).mean(axis=(1, 3))
    assert (shrunk(picture, side) == np.floor(means + 0.5)).all()


def test_bits_are_packed_with_the_first_one_lowest():
    bits = np.zeros((1, 128), bool)
    bits[0, [0, 5, 64, 127]] = True
    assert packed(bits).tolist() == [[1 + 2**5, 1 + 2**63]]


@pytest.mark.parametrize("bits", [64, 256])
def test_phash_marks_the_frequencies_above_their_median(bits):
    small = DRAW.integers(0, 256, (20, 32, 32), np.uint8)
    low = int(bits**0.5)
    for picture, code in zip(small, dct_bits(small, bits), strict=True):
        at = np.arange(32) + 0.5
        values = np.array(
            [
                [(picture * np.outer(np.cos(np.pi / 32 * u * at), np.cos(np.pi / 32 * v * at))).sum() for v in range(1, low + 1)]
                for u in range(1, low + 1)
            ]
        ).ravel()
        expected = packed((values > np.median(values))[None])[0]
        assert np.bitwise_count(code ^ expected).sum() <= 2  # the cosines are integers, so values next to the median may change sides


def test_a_picture_is_as_similar_to_itself_as_can_be_and_no_value_leaves_the_range():
    pictures = [DRAW.integers(0, 256, (40, 50, 3), np.uint8), np.full((3, 3, 3), 9, np.uint8), np.zeros((1, 1, 3), np.uint8)]
    payloads = np.stack([np.frombuffer(prepared(one), np.uint8) for one in pictures])
    assert payloads.shape == (3, WIDTH)
    assert images.similarity(payloads, payloads).tolist() == [1, 1, 1]
    assert (images.similarity(payloads, payloads[::-1]) == images.similarity(payloads[::-1], payloads)).all()
    assert images.hashes_of(payloads).shape == (3, images.BITS // 64)
