"""The greedy walk over pairs that are known."""

from __future__ import annotations

from likewise.kernels.jit import kernel


@kernel
def remove(left, right, gone):
    """Mark in ``gone``, bool[n], each right[i] whose left[i], the earlier item, stays. Pairs by rising right: the earlier ones are decided then."""
    for i in range(len(left)):
        if not gone[left[i]]:
            gone[right[i]] = True
