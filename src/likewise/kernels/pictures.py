"""Reduction of pictures to a small size. Exact: integers only, so the result does not depend on the machine."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel


@kernel
def shrunk(picture, side):
    """The mean of each of ``side`` × ``side`` equal parts of a picture uint8[height, width, channels], rounded half up: uint8[side, side, channels].

    A pixel on the border of parts counts in each by the area that it shares. A picture smaller than ``side`` repeats its pixels.
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
