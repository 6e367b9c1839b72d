"""The time left in a stage, from the speed of its most recent part; no estimate while that speed changes."""

from __future__ import annotations

from collections import deque

#: Seconds that an estimate looks back at least, and the share of the stage's time that it looks back on a longer stage.
LOOK_BACK_SECONDS, LOOK_BACK_SHARE = 2.0, 0.25
#: Marks in the part that an estimate looks back on: fewer are too coarse to compare its halves, and more add nothing.
FEWEST, MOST = 5, 64
#: The speeds of the two halves may differ by this factor.
STEADY = 4 / 3


class TimeLeft:
    """Records how much of a stage is done, and when; estimates the time that the rest takes.

    The clock starts with the first work that is done: what comes before it (work of an earlier run, compilation, preparation) says nothing about
    the speed. Work and clock only have to be in the same units throughout; the clock is in seconds.

    >>> left = TimeLeft(100)
    >>> for second in range(11):
    ...     left.mark(done=5 * second, clock=second)
    >>> left.seconds(clock=10)
    10.0
    """

    def __init__(self, total: float):
        self.total = total
        self.marks: deque[tuple[float, float]] = deque()  # clock and work done, both ascending
        self.since = 0.0

    def mark(self, done: float, clock: float) -> None:
        """Record the work done at this time. If the clock is set back, the estimate starts over."""
        if self.marks and clock < self.marks[-1][0]:
            self.marks.clear()
        if not self.marks:
            self.since = clock
        elif done <= self.marks[-1][1] or clock - self.marks[-1][0] < self.look_back(clock) / MOST:
            return
        self.marks.append((clock, done))
        while len(self.marks) > FEWEST and self.marks[1][0] <= clock - self.look_back(clock):
            self.marks.popleft()

    def look_back(self, clock: float) -> float:
        return max(LOOK_BACK_SECONDS, LOOK_BACK_SHARE * (clock - self.since))

    def seconds(self, clock: float) -> float | None:
        """The time left; None while the speed is not steady, or too little work is recorded."""
        if len(self.marks) < FEWEST or self.marks[-1][0] - self.marks[0][0] < 0.9 * LOOK_BACK_SECONDS:
            return None
        (begin, before), (end, done) = self.marks[0], self.marks[-1]
        middle, half = min(list(self.marks)[1:-1], key=lambda mark: abs(mark[0] - (begin + end) / 2))
        first, second = (half - before) / (middle - begin), (done - half) / (end - middle)
        if max(first, second) > STEADY * min(first, second):
            return None
        speed, idle = (done - before) / (end - begin), clock - end
        left = (self.total - done) / speed - idle
        return left if left > 0 and idle <= end - begin else None
