"""Passages that two texts share, grown from common k-grams.

A passage begins with a common k-gram and its equal neighbors, a *run*. At a difference it goes on with the nearest run after at most ``gap`` tokens
of either text, if ``sync`` tokens agree there and its similarity, 2 x agreed / (tokens of one side + tokens of the other), stays at or above the
threshold. So every passage has that similarity, and the run from which it grew is never lost.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels import lengths

#: A common k-gram is a row and a diagonal in one number, row << 32 | suspect's token - corpus's token + MIDDLE, and the suspect's token.
MIDDLE = 1 << 31
#: Passages at most so many times the gap apart are one: at 20 % of words edited, one passage in six would otherwise be found as two or more.
NEAR = 2
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
#: Passages of two texts in whose bounds runs are searched, the first to grow: those from the longest runs.
FIRST_ONES = 64
#: Columns of a passage: places of the suspect and of the corpus, agreed tokens, its first run and its last.
A0, A1, B0, B1, AGREED, FIRST, LAST = range(7)
#: Columns of a run: its places, its tokens, and the next run of its passage.
AT_A, AT_B, SIZE, NEXT = range(4)


@kernel
def near_repeats(offsets, tokens, keys, reach, most, last, times):
    """The places of keys in texts that are left out, bool[m]: all after the first ``most`` of a key that lie less than ``reach`` tokens apart.

    Text i has tokens[offsets[i] : offsets[i + 1]], ascending, and their keys. last: int64, -1 for each key; times: uint32, one for each key.
    """
    out = np.zeros(tokens.size, np.bool_)
    base = np.int64(0)  # so that places of different texts are never near
    for i in range(offsets.size - 1):
        end = np.int64(0)
        for j in range(offsets[i], offsets[i + 1]):
            key, at = keys[j], base + tokens[j]
            times[key] = times[key] + np.uint32(1) if last[key] >= 0 and at - last[key] < reach else np.uint32(1)
            last[key] = at
            out[j] = times[key] > most
            end = np.int64(tokens[j])
        base += end + reach + 1
    return out


@kernel
def meet(rows, offsets, tokens, keys, left_out, same, begins, places, place_tokens, low, high, k, out_text, out_where, out_at):
    """Write the common k-grams of some texts with rows low to high - 1 of the corpus, and return their number.

    Of k-grams that continue one another, which lie at most k tokens apart on one diagonal, only the first is written.

    rows: int64[n], the suspects. Suspect r has tokens[offsets[r] : offsets[r + 1]] and keys. left_out: see `near_repeats`. same: int64, the row of
    the corpus that is the same record as a suspect, or -1. Key q stands in row places[j], token place_tokens[j] for begins[q] <= j < begins[q + 1].
    out_text: uint32, the place in rows; out_where: uint64, row and diagonal; out_at: uint32.
    """
    written = 0
    for text in range(rows.size):
        own = same[rows[text]]
        for i in range(offsets[rows[text]], offsets[rows[text] + 1]):
            if left_out[i]:
                continue
            before = before_end = begins[0]  # places of the previous key, if it lies near
            step = np.int64(0)
            if i > offsets[rows[text]] and not left_out[i - 1] and tokens[i] - tokens[i - 1] <= k:
                before, before_end = begins[keys[i - 1]], begins[keys[i - 1] + 1]
                step = np.int64(tokens[i]) - np.int64(tokens[i - 1])
            for j in range(begins[keys[i]], begins[keys[i] + 1]):
                row, token = places[j], np.int64(place_tokens[j])
                while before < before_end and (places[before] < row or (places[before] == row and np.int64(place_tokens[before]) + step < token)):
                    before += 1
                if before < before_end and places[before] == row and np.int64(place_tokens[before]) + step == token:
                    continue
                if row == own or row < low or row >= high:
                    continue
                out_text[written] = text
                out_where[written] = (np.uint64(row) << np.uint64(32)) | np.uint64(np.int64(tokens[i]) - token + MIDDLE)
                out_at[written] = tokens[i]
                written += 1
    return written


@kernel
def grow(texts, where, at, rows, a, a_begins, b, b_begins, least, gap, sync, numerator, denominator):
    """The passages that grow from common k-grams, in order of suspect and corpus: int64[m, 7] of suspect, its begin and end, corpus, its begin and
    end, agreed tokens. Places are tokens.

    texts, where, at: from `meet`, ordered by text, row and diagonal, token. rows: its suspects. a: hashes of the suspects' tokens, those of row r
    from a_begins[r] to a_begins[r + 1]; b: of the corpus. least: agreed tokens of a passage. The threshold is numerator / denominator.
    """
    out = np.empty((16, 7), np.int64)
    written = 0
    low = 0
    while low < texts.size:
        row = np.int64(where[low] >> np.uint64(32))
        high = low + 1
        while high < texts.size and texts[high] == texts[low] and np.int64(where[high] >> np.uint64(32)) == row:
            high += 1
        suspect = rows[texts[low]]
        mine = a[a_begins[suspect] : a_begins[suspect + 1]]
        yours = b[b_begins[row] : b_begins[row + 1]]
        found, runs = of_pair(where[low:high], at[low:high], mine, yours, least, gap, sync, numerator, denominator)
        found = joined(found, runs, NEAR * gap, numerator, denominator)
        while written + len(found) > len(out):
            out = doubled(out)
        for i in range(len(found)):
            out[written, 0], out[written, 3], out[written, 6] = suspect, row, found[i, AGREED]
            out[written, 1], out[written, 2] = found[i, A0], found[i, A1]
            out[written, 4], out[written, 5] = found[i, B0], found[i, B1]
            written += 1
        low = high
    return out[:written]


@kernel
def hits_of_texts(offsets, keys, left_out, begins):
    """The number of common k-grams of each suspect, int64[n], with those that `meet` leaves out. Arguments as there."""
    out = np.zeros(offsets.size - 1, np.int64)
    for i in range(out.size):
        for j in range(offsets[i], offsets[i + 1]):
            if not left_out[j]:
                out[i] += begins[keys[j] + 1] - begins[keys[j]]
    return out


@kernel
def hits_of_rows(row, offsets, keys, left_out, begins, places, out):
    """Add the number of common k-grams of one suspect with each row of the corpus to ``out``, int64. Arguments as in `meet`."""
    for j in range(offsets[row], offsets[row + 1]):
        if not left_out[j]:
            for place in range(begins[keys[j]], begins[keys[j] + 1]):
                out[places[place]] += 1


@inline
def doubled(table):
    """A copy with room for twice as many rows."""
    more = np.empty((2 * len(table), table.shape[1]), np.int64)
    more[: len(table)] = table
    return more


@inline
def of_pair(where, at, a, b, least, gap, sync, numerator, denominator):
    """The passages of two texts, which grow from their common runs, the longest first, unless a passage before has the run in its bounds.

    Returns (int64[m, 7], runs int64[r, 4]).
    """
    keys, sizes = common_runs(where, at, a, b)
    passages, runs = np.empty((8, 7), np.int64), np.empty((16, 4), np.int64)
    count = used = 0
    done = np.zeros(keys.size, np.bool_)
    for seed in np.argsort(-sizes, kind="mergesort"):
        agreed = sizes[seed]
        x0 = np.int64(keys[seed] & LOW)
        y0 = x0 - (np.int64(keys[seed] >> HALF) - MIDDLE)
        x1, y1 = x0 + agreed, y0 + agreed
        if done[seed] or bounded(passages[: min(count, FIRST_ONES)], x0, x1, y0, y1):
            continue
        first = used
        runs = with_run(runs, used, x0, y0, agreed)
        used += 1
        ax, ay, after = onward(a, b, x1, y1, gap, sync, 1)
        bx, by, before = onward(a, b, x0 - 1, y0 - 1, gap, sync, -1)
        while True:
            tokens = x1 - x0 + y1 - y0
            if after and similar(agreed + after, tokens + ax + ay + 2 * after, numerator, denominator):
                runs = with_run(runs, used, x1 + ax, y1 + ay, after)
                x1, y1, agreed = x1 + ax + after, y1 + ay + after, agreed + after
                ax, ay, after = onward(a, b, x1, y1, gap, sync, 1)
            elif before and similar(agreed + before, tokens + bx + by + 2 * before, numerator, denominator):
                x0, y0, agreed = x0 - bx - before, y0 - by - before, agreed + before
                runs = with_run(runs, used, x0, y0, before)
                bx, by, before = onward(a, b, x0 - 1, y0 - 1, gap, sync, -1)
            else:
                break
            used += 1
        strike(done, keys, a, b, runs[first:used], x0, y0, x1, y1)
        if agreed < least:
            used = first
            continue
        for run in range(first, used - 1):
            runs[run, NEXT] = run + 1
        if count == len(passages):
            passages = doubled(passages)
        passages[count, A0], passages[count, A1], passages[count, B0], passages[count, B1] = x0, x1, y0, y1
        passages[count, AGREED], passages[count, FIRST], passages[count, LAST] = agreed, first, used - 1
        count += 1
    return passages[:count], runs


@inline
def common_runs(where, at, a, b):
    """The runs of equal tokens in which common k-grams lie: (diagonal + MIDDLE << 32 | first token of a, uint64[r] ascending; tokens, int64[r])."""
    keys, sizes = np.empty(at.size, np.uint64), np.empty(at.size, np.int64)
    count, last, end = 0, np.uint64(0), np.int64(0)
    compared, of_a, of_b = 0, np.empty(0, np.uint64), np.empty(0, np.uint64)
    for hit in range(at.size):
        x, line = np.int64(at[hit]), where[hit] & LOW
        y = x - (np.int64(line) - MIDDLE)
        if (count and line == last and x < end) or not equal(a, b, x, y):  # in the run before; or two k-grams with one hash
            continue
        if of_a.size:
            back, on = lengths.before(a, b, x, y, of_a, of_b), lengths.after(a, b, x, y, of_a, of_b)
        else:
            back, on = agreeing(a, b, x - 1, y - 1, -1), agreeing(a, b, x, y, 1)
            compared += back + on
            if compared > a.size + b.size:  # texts that repeat themselves: long runs on many diagonals
                of_a, of_b = lengths.sums(a), lengths.sums(b)
        last, end = line, x + on
        keys[count], sizes[count] = (line << HALF) | np.uint64(x - back), back + on
        count += 1
    return keys[:count], sizes[:count]


@inline
def bounded(passages, x0, x1, y0, y1):
    """True if one of the passages has a run in its bounds."""
    for one in passages:  # noqa: SIM110 - Numba compiles no generators
        if one[A0] <= x0 and x1 <= one[A1] and one[B0] <= y0 and y1 <= one[B1]:
            return True
    return False


@always
def equal(a, b, x, y):
    """True if both texts have these tokens, and they are equal."""
    return 0 <= x < a.size and 0 <= y < b.size and a[x] == b[y]


@inline
def agreeing(a, b, x, y, step):
    """The number of equal tokens from (x, y) on, forwards or backwards (``step`` 1 or -1)."""
    count = 0
    while equal(a, b, x, y):
        x, y, count = x + step, y + step, count + 1
    return count


@inline
def onward(a, b, x, y, gap, sync, step):
    """The nearest run beyond the difference at (x, y): (tokens of a between, tokens of b between, tokens of the run, or 0 without one).

    Nearest by the sum of both sides, then by the tokens of a.
    """
    most_a = min(gap, a.size - 1 - x if step > 0 else x)
    most_b = min(gap, b.size - 1 - y if step > 0 else y)
    total, of_a = 2 * gap + 1, 0
    for dx in range(min(most_a, total - 1) + 1):
        token = a[x + step * dx]
        for dy in range(min(most_b, total - dx - 1) + 1):
            if b[y + step * dy] == token and synchronous(a, b, x + step * dx, y + step * dy, sync, step):
                total, of_a = dx + dy, dx
                break
    if total > 2 * gap:
        return 0, 0, 0
    return of_a, total - of_a, agreeing(a, b, x + step * of_a, y + step * (total - of_a), step)


@always
def synchronous(a, b, x, y, sync, step):
    """True if ``sync`` tokens are equal from (x, y) on, of which the first is."""
    for i in range(1, sync):  # noqa: SIM110
        if not equal(a, b, x + step * i, y + step * i):
            return False
    return True


@always
def similar(agreed, tokens, numerator, denominator):
    """True if 2 x agreed / tokens of both sides is at least numerator / denominator."""
    return 2 * agreed * denominator >= numerator * tokens


@inline
def with_run(runs, used, x, y, size):
    """The runs with one more at index ``used``."""
    if used == len(runs):
        runs = doubled(runs)
    runs[used, AT_A], runs[used, AT_B], runs[used, SIZE], runs[used, NEXT] = x, y, size, -1
    return runs


@inline
def strike(done, keys, a, b, runs, x0, y0, x1, y1):
    """Mark the common runs that lie on a passage [x0, x1) x [y0, y1), as far as tokens are equal: nothing else would grow from them.

    A run of the passage is cut where the run before it, on another diagonal, begins or ends, so the tokens beyond are compared.
    """
    for run in runs:
        low, high, shift = run[AT_A], run[AT_A] + run[SIZE], run[AT_A] - run[AT_B]
        while low > x0 and low - shift > y0 and equal(a, b, low - 1, low - 1 - shift):
            low -= 1
        while high < x1 and high - shift < y1 and equal(a, b, high, high - shift):
            high += 1
        if equal(a, b, low - 1, low - 1 - shift) or equal(a, b, high, high - shift):
            continue
        key = (np.uint64(shift + MIDDLE) << HALF) | np.uint64(low)
        place = np.searchsorted(keys, key)
        if place < keys.size and keys[place] == key:
            done[place] = True


@inline
def joined(found, runs, gap, numerator, denominator):
    """The passages of two texts, those at most ``gap`` tokens apart on both sides made one where that is similar enough.

    Repeated until nothing changes: a passage that grew may reach another one. found, runs: as from `of_pair`, changed.
    """
    changed = len(found) > 1
    while changed:
        changed = False
        order = np.argsort((found[:, A0] << 32) + found[:, B0], kind="mergesort")
        found = found[order]
        done, open_ = 0, 0  # found[done:open_] may still be near a later one
        for i in range(len(found)):
            for other in range(done, open_):
                if near(found[other], found[i], gap) and join(found[other], found[i], runs, numerator, denominator):
                    changed = True
                    break
            else:
                found[open_] = found[i]
                open_ += 1
            for other in range(done, open_):
                if found[other, A1] + gap < found[i, A0]:  # move it before those that stay, which keep their order
                    early = found[other].copy()
                    for place in range(other, done, -1):
                        found[place] = found[place - 1]
                    found[done] = early
                    done += 1
        found = found[:open_]
    return found


@always
def near(one, two, gap):
    """True if two passages are at most ``gap`` tokens apart on both sides."""
    return max(one[A0], two[A0]) - min(one[A1], two[A1]) <= gap and max(one[B0], two[B0]) - min(one[B1], two[B1]) <= gap


@inline
def join(one, two, runs, numerator, denominator):
    """Make passage ``one`` contain ``two`` if they are similar enough together."""
    x0, x1, y0, y1 = min(one[A0], two[A0]), max(one[A1], two[A1]), min(one[B0], two[B0]), max(one[B1], two[B1])
    apart = (one[A1] <= two[A0] or two[A1] <= one[A0]) and (one[B1] <= two[B0] or two[B1] <= one[B0])
    end = runs[one[LAST], NEXT]
    runs[one[LAST], NEXT] = two[FIRST]
    agreed = one[AGREED] + two[AGREED] if apart else min(covered(runs, one[FIRST], AT_A), covered(runs, one[FIRST], AT_B))
    if not similar(agreed, x1 - x0 + y1 - y0, numerator, denominator):
        runs[one[LAST], NEXT] = end
        return False
    one[A0], one[A1], one[B0], one[B1], one[AGREED], one[LAST] = x0, x1, y0, y1, agreed, two[LAST]
    return True


@inline
def covered(runs, first, side):
    """The number of tokens of a side in the runs of a passage, each counted once."""
    count = 0
    run = first
    while run >= 0:
        count, run = count + 1, runs[run, NEXT]
    spans = np.empty(count, np.int64)
    run, count = first, 0
    while run >= 0:
        spans[count] = (runs[run, side] << 32) + runs[run, SIZE]
        count, run = count + 1, runs[run, NEXT]
    spans.sort()
    total, end = np.int64(0), np.int64(0)
    for span in spans:
        begin = span >> 32
        stop = begin + (span & 0xFFFFFFFF)
        if stop > end:
            total += stop - (begin if begin > end else end)
            end = stop
    return total
