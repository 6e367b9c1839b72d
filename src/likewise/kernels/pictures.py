"""Pictures reduced to a small size, and the similarity of two small gray pictures after one was aligned to the other."""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled.jit import always, inline, kernel


@kernel
def shrunk(picture, side):
    """The means of ``side`` × ``side`` equal parts of a picture uint8[height, width, channels], rounded half up: uint8[side, side, channels].

    Exact: integers only. A pixel on the border of parts counts in each by the area that it shares. A picture smaller than ``side`` repeats pixels.
    """
    height, width, channels = picture.shape
    small = np.empty((side, side, channels), np.uint8)
    sums = np.empty(width * channels, np.int64)  # of the rows of a part, each pixel times its height in units of 1 / side pixels
    for row in range(side):
        sums[:] = 0
        for y in range(row * height // side, ((row + 1) * height - 1) // side + 1):
            shared = min((y + 1) * side, (row + 1) * height) - max(y * side, row * height)
            line = picture[y].reshape(-1)
            for at in range(width * channels):
                sums[at] += shared * line[at]
        for column in range(side):
            begin, end = column * width, (column + 1) * width
            for channel in range(channels):
                total = 0
                for x in range(begin // side, (end - 1) // side + 1):
                    total += (min((x + 1) * side, end) - max(x * side, begin)) * sums[x * channels + channel]
                small[row, column, channel] = (2 * total + height * width) // (2 * height * width)
    return small


#: Blocks of the local correlation: pixels of a side, and from one to the next.
BLOCK, STEP = 6, 2
#: Variance, relative to that of the picture, that counts as noise. Pictures with a standard deviation below LEAST levels are taken as if it was that.
NOISE, LEAST = 0.01, 4.0
#: Steps of the alignment in half and in full size; the largest change of scale, and twice the largest shift as a share of the side.
COARSE, FINE, MOST = 6, 4, 0.25
#: The number of unknowns of a step: scale and shift in x, scale and shift in y, contrast, brightness.
UNKNOWNS = 6
#: A step that moves no pixel by more than this is the last one.
STILL = 0.04
#: The difference of gray levels at which two pictures of one color are not similar at all.
APART = 16.0


@kernel
def similarities(left, right):
    """The similarity of the i-th of two batches of square gray pictures, uint8[n, side, side]: float64[n], 0 to 1. The side is even."""
    out = np.empty(len(left))
    for i in range(len(left)):
        a, mean_of_a = normalized(left[i])
        b, mean_of_b = normalized(right[i])
        value = max(aligned(a, b), aligned(b, a))
        if value > -1:
            value = min(max(value, 0.0), 1.0) ** 2
        else:  # both have one color
            value = max(1 - abs(mean_of_a - mean_of_b) / APART, 0.0)
        out[i] = 1.0 if (left[i] == right[i]).all() else value
    return out


@inline
def normalized(picture):
    """The picture with mean 0 and standard deviation 1, then smoothed by the weights 1, 2, 1 in each direction; and its mean."""
    values = picture.astype(np.float64)
    mean = values.sum() / values.size
    values -= mean
    values /= max(math.sqrt((values * values).sum() / values.size), LEAST)
    side = len(picture)
    across, smooth = np.empty((side, side)), np.empty((side, side))
    for y in range(side):
        for x in range(side):
            across[y, x] = (values[y, max(x - 1, 0)] + 2 * values[y, x] + values[y, min(x + 1, side - 1)]) / 4
    for y in range(side):
        for x in range(side):
            smooth[y, x] = (across[max(y - 1, 0), x] + 2 * across[y, x] + across[min(y + 1, side - 1), x]) / 4
    return smooth, mean


@inline
def aligned(picture, target):
    """The local correlation of a target and the picture aligned to it, or -2 if both have one color.

    The alignment is that of Lucas and Kanade in its inverse compositional form (Baker and Matthews 2004), first in half size; contrast and brightness
    are unknown.
    """
    scale, shift = np.ones(2), np.zeros(2)  # in x and y; shifts in shares of the side
    align(halved(picture), halved(target), COARSE, scale, shift)
    align(picture, target, FINE, scale, shift)
    side = len(target)
    pixel, part, span = places(side, scale, shift)
    moved = np.empty((side, side))
    for y in range(side):
        for x in range(side):
            moved[y, x] = interpolated(picture, pixel, part, y, x)
    return local_correlation(moved, target, span)


@inline
def halved(picture):
    side = len(picture) // 2
    half = np.empty((side, side))
    for y in range(side):
        for x in range(side):
            half[y, x] = (picture[2 * y, 2 * x] + picture[2 * y, 2 * x + 1] + picture[2 * y + 1, 2 * x] + picture[2 * y + 1, 2 * x + 1]) / 4
    return half


@inline
def places(side, scale, shift):
    """Where pixels of a target lie in the picture, in x (0) and y (1): the pixel before, the part of the next one, and the span in the picture."""
    pixel, part, span = np.empty((2, side), np.int64), np.empty((2, side)), np.zeros((2, 2), np.int64)
    center = (side - 1) / 2
    for axis in range(2):
        for at in range(side):
            place = center + scale[axis] * (at - center) + shift[axis] * side
            span[axis, 0] += place < -0.5
            span[axis, 1] += place <= side - 0.5
            pixel[axis, at] = min(max(math.floor(place), 0), side - 2)
            part[axis, at] = min(max(place - pixel[axis, at], 0.0), 1.0)
    return pixel, part, span


@always
def interpolated(picture, pixel, part, y, x):
    column, row = pixel[0, x], pixel[1, y]
    upper = picture[row, column] + part[0, x] * (picture[row, column + 1] - picture[row, column])
    lower = picture[row + 1, column] + part[0, x] * (picture[row + 1, column + 1] - picture[row + 1, column])
    return upper + part[1, y] * (lower - upper)


@inline
def align(picture, target, steps, scale, shift):
    """Improve the scale and the shift, float64[2] each, with which the picture lies on the target."""
    side = len(target)
    slopes = slopes_of(target)
    factor = factored(slopes)
    sums, change = np.empty(UNKNOWNS), np.empty(UNKNOWNS)
    for _ in range(steps):
        pixel, part, span = places(side, scale, shift)
        s0 = s1 = s2 = s3 = s4 = s5 = 0.0  # in registers: an array would be written for every pixel
        for y in range(span[1, 0], span[1, 1]):
            for x in range(span[0, 0], span[0, 1]):
                difference = interpolated(picture, pixel, part, y, x) - target[y, x]
                slope = slopes[y, x]
                s0 += slope[0] * difference
                s1 += slope[1] * difference
                s2 += slope[2] * difference
                s3 += slope[3] * difference
                s4 += slope[4] * difference
                s5 += slope[5] * difference
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5] = s0, s1, s2, s3, s4, s5
        solve(factor, sums, change)
        contrast, largest = max(1 + change[4], 0.25), 0.0
        for axis in range(2):
            wider = min(max(change[2 * axis] / contrast, -0.2), 0.2)
            new = min(max(scale[axis] / (1 + wider), 1 / (1 + MOST)), 1 + MOST)
            place = min(max(shift[axis] - new * change[2 * axis + 1] / contrast, -MOST / 2), MOST / 2)
            largest = max(largest, abs(new - scale[axis]), 2 * abs(place - shift[axis]))
            scale[axis], shift[axis] = new, place
        if largest * side < STILL:
            break


@inline
def slopes_of(target):
    """How each pixel of the target changes with each unknown: float64[side, side, UNKNOWNS]."""
    side = len(target)
    slopes = np.empty((side, side, UNKNOWNS))
    for y in range(side):
        for x in range(side):
            across = (target[y, min(x + 1, side - 1)] - target[y, max(x - 1, 0)]) / 2
            down = (target[min(y + 1, side - 1), x] - target[max(y - 1, 0), x]) / 2
            slopes[y, x, 0], slopes[y, x, 1] = across * (x - (side - 1) / 2), across * side
            slopes[y, x, 2], slopes[y, x, 3] = down * (y - (side - 1) / 2), down * side
            slopes[y, x, 4], slopes[y, x, 5] = target[y, x], 1.0
    return slopes


@inline
def factored(slopes):
    """The Cholesky factor of the normal equations of the slopes, with a little added to the diagonal: float64[UNKNOWNS, UNKNOWNS]."""
    side = len(slopes)
    factor = np.zeros((UNKNOWNS, UNKNOWNS))
    for y in range(side):
        for x in range(side):
            for i in range(UNKNOWNS):
                for j in range(i + 1):
                    factor[i, j] += slopes[y, x, i] * slopes[y, x, j]
    for i in range(UNKNOWNS):
        factor[i, i] = 1.0001 * factor[i, i] + 1e-6 * side * side
        for j in range(i + 1):
            for k in range(j):
                factor[i, j] -= factor[i, k] * factor[j, k]
            factor[i, j] = math.sqrt(factor[i, i]) if i == j else factor[i, j] / factor[j, j]
    return factor


@inline
def solve(factor, sums, solution):
    for i in range(UNKNOWNS):
        value = sums[i]
        for k in range(i):
            value -= factor[i, k] * solution[k]
        solution[i] = value / factor[i, i]
    for i in range(UNKNOWNS - 1, -1, -1):
        value = solution[i]
        for k in range(i + 1, UNKNOWNS):
            value -= factor[k, i] * solution[k]
        solution[i] = value / factor[i, i]


@inline
def local_correlation(a, b, span):
    """The mean correlation of the blocks of two pictures; -2 if no block has more than noise.

    A block counts if at least half of it lies in the span, by the fourth root of the larger standard deviation. Noise lowers the correlation and the
    weight of blocks with little else, so equal pictures have 1.
    """
    total = weights = 0.0
    for top in range(0, len(a) - BLOCK + 1, STEP):
        first, last = max(top, span[1, 0]), min(top + BLOCK, span[1, 1])
        for left in range(0, len(a) - BLOCK + 1, STEP):
            begin, end = max(left, span[0, 0]), min(left + BLOCK, span[0, 1])
            count = max(last - first, 0) * max(end - begin, 0)
            if 2 * count < BLOCK * BLOCK:
                continue
            sum_a = sum_b = squares_a = squares_b = products = 0.0
            for y in range(first, last):
                for x in range(begin, end):
                    sum_a += a[y, x]
                    sum_b += b[y, x]
                    squares_a += a[y, x] * a[y, x]
                    squares_b += b[y, x] * b[y, x]
                    products += a[y, x] * b[y, x]
            variance_a, variance_b = max(squares_a - sum_a * sum_a / count, 0.0) / count, max(squares_b - sum_b * sum_b / count, 0.0) / count
            larger = max(variance_a, variance_b)
            if larger > NOISE:
                weight = math.sqrt(math.sqrt(math.sqrt(larger - NOISE)))
                total += weight * (products - sum_a * sum_b / count) / count / (math.sqrt(variance_a * variance_b) + NOISE)
                weights += weight * larger / (larger + NOISE)
    return total / weights if weights > 0 else -2.0
