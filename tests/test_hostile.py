"""Input made by someone who wants a wrong result, a crash, a full memory, or more than results: each is met, refused or bounded."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import xxhash
from pyarrow import ipc

import likewise as lw
from command_line import run
from likewise import methods, pipeline
from likewise.cli.screen import Screen, in_line
from likewise.errors import DataError, FormatError, LikewiseError, UsageError
from likewise.io import batches, footer, patterns
from likewise.io.compression import open_read
from likewise.io.expansion import of_rows
from likewise.io.formats import arrow, jsonl, npy, parquet
from likewise.io.formats import lines as byte_formats
from likewise.io.ids import repeated
from likewise.io.inputs import resolve
from likewise.io.output import SEAL, checksums, seal
from likewise.io.work import Work, checksum, checksum_of, sealed
from likewise.items.documents import BYTE_KEYS, PLACE_FACTORS, shingler
from likewise.items.words import ELEMENT_KEYS, Hasher
from likewise.kernels.digest import KEYS
from likewise.kernels.distinct import number_repeats, sort_distinct
from likewise.kernels.hashing import derive
from likewise.kernels.jit import kernel
from likewise.kernels.minhash import BAND, FOLD, GOLDEN, band_keys
from likewise.methods import Text
from likewise.records import REJECTED, Want
from likewise.stages.candidates import BUDGET, FINER, Buckets, no_splits
from stopping import StoppedError
from twins import WORD, folded, mix

KNOWN, OTHER = 7, 8  # a seed that the attacker knows, and one that the user drew
LINE = '{"id": %d, "text": "one two three four five six %s"}\n'


pytestmark = pytest.mark.usefixtures("folder")


def refused(*args: object, **more: Any) -> str:
    """The one line that a command says when it refuses something, which is no fault of its own."""
    result = run(*args, **more)
    assert result.exit_code == 2, result.output
    assert "fault of likewise" not in result.output
    return result.output.strip().splitlines()[0]


# --- hash collisions, forged by who knows the seed


def keys_of(seed: int, purpose: np.uint64, count: int) -> list[int]:
    return [int(key) for key in derive(np.uint64(seed), purpose, count)]


def signed(word: int) -> int:
    return word - 2**64 if word >> 63 else word


def forged_text(seed: int, target: str) -> str:
    """Another text of as many letters, 40, with the same shingle by chars:40: sums of 4 times 10 letters that give the target's.

    A fingerprint is a bijection of a sum, and the sum is linear in what each character stands for. So this is a 4-list problem (Wagner, A
    generalized birthday problem, CRYPTO 2002): 2^22 sums a list, joined on their low 22 bits, then on all.
    """
    half, bits = 11, 22
    factors = derive(np.uint64(seed), PLACE_FACTORS, 42)
    letters = np.arange(ord("a"), ord("z") + 1, dtype=np.uint64) * derive(np.uint64(seed), BYTE_KEYS, KEYS)[0]
    letters ^= letters >> np.uint64(32)
    wanted = sum(int(letters[ord(char) - 97]) * int(factors[i]) for i, char in enumerate(target)) & WORD
    draw = np.random.default_rng(10)
    halves = draw.integers(0, 26, (8, 1 << half, 5), np.uint8)  # a list has all combinations of two halves of a part
    sums_of = [(letters[texts] * factors[5 * place : 5 * place + 5]).sum(axis=1) for place, texts in enumerate(halves)]
    sums = [(sums_of[2 * part][:, None] + sums_of[2 * part + 1]).ravel() for part in range(4)]
    low, index = np.uint64((1 << bits) - 1), np.arange(1 << bits, dtype=np.uint64)

    def joined(left: np.ndarray, right: np.ndarray, total: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of sums whose low bits are those of the total: places in both, and what they sum up to."""
        needed = np.sort((np.uint64(total) - left & low) << np.uint64(32) | index)
        there = np.sort((right & low) << np.uint64(32) | index)
        begin = np.searchsorted(there, needed & ~np.uint64(0xFFFFFFFF))
        number = np.searchsorted(there, needed | np.uint64(0xFFFFFFFF)) - begin
        at = np.repeat(needed & np.uint64(0xFFFFFFFF), number)
        other = there[np.arange(len(at)) - np.repeat(np.cumsum(number) - number - begin, number)] & np.uint64(0xFFFFFFFF)
        return at, other, left[at] + right[other]

    a, b, ab = joined(sums[0], sums[1], 0)
    c, d, cd = joined(sums[2], sums[3], wanted)
    rest = np.uint64(wanted) - cd
    every = np.sort(np.concatenate([ab, rest]))
    common = next(word for word in every[1:][every[1:] == every[:-1]] if (ab == word).any() and (rest == word).any())
    first, second = np.flatnonzero(ab == common)[0], np.flatnonzero(rest == common)[0]
    places = [int(place) for whole in (a[first], b[first], c[second], d[second]) for place in divmod(int(whole), 1 << half)]
    return "".join(chr(97 + letter) for texts, place in zip(halves, places, strict=True) for letter in texts[place])


def test_a_text_forged_to_look_like_another_does_so_under_one_seed_only():
    target = "thequickbrownfoxjumpsoverthelazydogagain"
    forged = forged_text(KNOWN, target)
    assert len(forged) == 40 and sum(a == b for a, b in zip(forged, target, strict=True)) < 12
    shingle = {seed: shingler(Text("chars", 40, ()), seed) for seed in (KNOWN, OTHER, 0)}
    both = pa.array([target.encode(), forged.encode()], pa.large_binary())
    values = {seed: each(both, np.ones(2, bool)).values.tolist() for seed, each in shingle.items()}
    assert values[KNOWN][0] == values[KNOWN][1]  # the attack is real
    assert values[OTHER][0] != values[OTHER][1] and values[0][0] != values[0][1]
    removed = {seed: len(lw.dedup([target, forged], by="chars:40", normalize="none", seed=seed).removed) for seed in (KNOWN, OTHER)}
    assert removed == {KNOWN: 1, OTHER: 0}


def test_token_ids_that_zero_the_product_under_one_seed():
    """hash_bytes of eight bytes w is (w ^ k2)(w ^ k0) folded: nothing for k0 and for k2."""
    keys = keys_of(KNOWN, BYTE_KEYS, KEYS)
    ids = [signed(keys[0]), signed(keys[2])]
    texts = pa.array([np.array([number], "<i8").tobytes() for number in ids], pa.large_binary())
    values = {seed: shingler(methods.parse("tokens:1"), seed)(texts, np.ones(2, bool)).values for seed in (KNOWN, OTHER)}
    assert values[KNOWN][0] == values[KNOWN][1]
    assert values[OTHER][0] != values[OTHER][1]


def test_copies_forged_under_one_seed():
    """Both lanes of the 128 bits forget what came before at a block that makes one operand 1."""
    keys = keys_of(KNOWN, BYTE_KEYS, KEYS)
    blocks = [signed(keys[6] ^ 1), 0, signed(keys[7] ^ 1), 5, 6]
    rows = pa.table({"text": pa.array([[blocks[0], free, *blocks[2:]] for free in range(4)], pa.list_(pa.int64()))})
    removed = {seed: lw.dedup(rows, by="tokens:2", seed=seed).removed.to_arrow()["reason"].to_pylist() for seed in (KNOWN, OTHER)}
    assert removed == {KNOWN: ["exact"] * 3, OTHER: []}


def test_elements_forged_under_one_seed():
    """Numbers of 64 bits are mixed after an XOR with one of two keys; a string whose first half is a key has no second half."""
    keys = keys_of(KNOWN, ELEMENT_KEYS, KEYS + 4)
    plain, negative = keys[KEYS], keys[KEYS + 1]
    number = 5 if (5 ^ plain ^ negative) >> 63 else 5 | 1 << 63
    pair = [[number], [signed(number ^ plain ^ negative)]]
    assert [len(lw.pairs(pair, by="elements", threshold=1, seed=seed)) for seed in (KNOWN, OTHER)] == [1, 0]
    strings = pa.array([keys[2].to_bytes(8, "little") + half for half in (b"one half", b"or other")], pa.large_binary())
    words = {seed: Hasher(seed).strings(strings).tolist() for seed in (KNOWN, OTHER)}
    assert words[KNOWN][0] == words[KNOWN][1] and words[OTHER][0] != words[OTHER][1]


def test_band_keys_forged_under_one_seed():
    """Of two pairs of slots the second can undo what the first made different."""
    key = mix(KNOWN ^ GOLDEN)
    state = mix(mix(key ^ BAND) + GOLDEN & WORD)
    first = [(1, 2), (3, 4)]
    second = [folded(state ^ first[0][0] << 32 ^ first[0][1], FOLD) ^ folded(state ^ x << 32 ^ y, FOLD) ^ 9 << 32 ^ 9 for x, y in first]
    slots = np.array([[*start, then >> 32, then & 0xFFFFFFFF] for start, then in zip(first, second, strict=True)], np.uint32)
    found = {seed: band_keys(slots, 1, 4, np.uint64(seed))[0].tolist() for seed in (KNOWN, OTHER)}
    assert found[KNOWN][0] == found[KNOWN][1] and found[OTHER][0] != found[OTHER][1]


def test_no_text_enters_another_group_by_a_hash_that_has_no_key():
    """XXH3 without a seed: two differences in blocks whose secrets agree there undo each other, in 64 bits and in 128, in plain ASCII."""
    groups = []
    for one, two in (b"()", b")("):
        text = bytearray(b'"' + b"-" * 510 + b'"')  # what stands for a group is its JSON text
        text[32:36], text[36], text[96:100], text[100] = b"aaaa", one, b"(BWR", two
        groups.append(text.decode())
    assert groups[0] != groups[1]
    assert xxhash.xxh3_64_intdigest(groups[0].encode()) == xxhash.xxh3_64_intdigest(groups[1].encode())
    assert xxhash.xxh3_128_hexdigest(groups[0].encode()) == xxhash.xxh3_128_hexdigest(groups[1].encode())
    rows = [{"text": "one two three four five six", "shop": json.loads(group)} for group in groups]
    assert [json.dumps(row["shop"]) for row in rows] == groups
    assert len(lw.dedup(rows).removed) == 1
    assert len(lw.dedup(rows, per="shop").removed) == 0


def test_ids_that_share_arrows_hash_are_counted_by_another():
    """Arrow's hash of 16 bytes is an XOR of two bijections of 8: so ids that share it can be written down, and counting them took time squared."""
    one, two = np.array([11400714785074694791], np.uint64), np.array([14029467366897019727], np.uint64)
    undo = np.array([pow(int(one[0]), -1, 2**64)], np.uint64)
    found: list[bytes] = []
    draw = np.random.default_rng(1)
    common = (np.frombuffer(b"abcdefgh", "<u8") * two).byteswap() ^ (np.frombuffer(b"ABCDEFGH", "<u8") * one).byteswap()
    while len(found) < 300:
        first = draw.integers(48, 91, (200_000, 8)).astype(np.uint8)
        last = ((common ^ (first.view("<u8")[:, 0] * two).byteswap()).byteswap() * undo).view(np.uint8).reshape(-1, 8)
        fit = ((last >= 48) & (last < 127) & (last != 92)).all(axis=1)
        found += [row.tobytes() for row in np.concatenate([first[fit], last[fit]], axis=1)]
    ids = [raw.decode() for raw in found]
    hashes = {int(np.bitwise_xor.reduce((np.frombuffer(raw, "<u8") * np.concatenate([two, one])).byteswap())) for raw in found}
    assert len(hashes) == 1  # they do share it
    assert repeated(pa.array(ids)) == (0, [])
    assert repeated(pa.array([*ids, ids[5], ids[3], ids[5]])) == (3, [ids[3], ids[5]])


def test_characters_that_differ_by_powers_of_two_collide_no_more_often_than_others():
    """Sums of differences that all have 20 zeros at their end would be 0 with a chance of 2^-44 instead of 2^-64."""
    zeros = Counter()
    for seed in range(400):
        key = keys_of(seed, BYTE_KEYS, KEYS)[0]
        a, b = ((word := number * key & WORD) ^ word >> 32 for number in (0x41, 0x100041))
        zeros[((a - b & WORD) & -(a - b & WORD)).bit_length() - 1] += 1
    assert sum(times for count, times in zeros.items() if count >= 5) < 40  # 12.5 expected, 400 as the numbers are
    texts = ["".join(chr(0x41 + i + plane) for i in range(30)) for plane in (0, 0x100000)]
    for seed in range(20):
        assert len(lw.pairs(texts, by="chars:9", normalize="none", threshold="1/100", seed=seed)) == 0


def test_padding_length_order_and_repeats_make_other_shingles():
    """Nothing that needs no seed: NUL before and behind, the same bytes in more or fewer words, tokens swapped, empty strings."""
    texts = ["a", "\0a", "a\0", "\0\0a", "aa", "a" * 8, "a" * 9, "a" * 16, "a" * 17, "a" * 32, "a" * 33, "a" * 15 + "\0", "\0" * 8, "\0" * 16]
    texts += ["a a", "a \0a", "aa a", "a aa", "a\u200b a", "a a a"]
    encoded = pa.array([text.encode() for text in texts], pa.large_binary())
    for by in ("whitespace:1", "whitespace:3", "chars:2", "bytes:3", "lines:1"):
        for seed in (0, 1):
            found = shingler(methods.parse(by, "none"), seed)(encoded, np.ones(len(texts), bool))
            sets = [frozenset(found.values[a:b].tolist()) for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
            expected = [frozenset(shingles(text, by)) for text in texts]
            assert [[a == b for b in sets] for a in sets] == [[a == b for b in expected] for a in expected]
            assert len({tuple(row) for row in found.copy.tolist()}) == len(texts)
    words = Hasher(3).listed(["", "\0", "\0\0", 0, -1, 2**64 - 1, 2**64, -(2**63), 2**63, "0", -(2**64), 10**5000])
    assert len(set(words.tolist())) == 12


def shingles(text: str, by: str) -> list[tuple]:
    unit, k = by.split(":")
    tokens: list = {"whitespace": text.split, "chars": lambda: list(text), "bytes": lambda: list(text.encode()), "lines": lambda: [text]}[unit]()
    return [tuple(tokens[i : i + int(k)]) for i in range(len(tokens) - int(k) + 1)] or [("few", *tokens)]


@kernel
def _distinct(values, count, places, out):
    return sort_distinct(values, count, places, out)


@kernel
def _repeats(values, count, seen, times):
    number_repeats(values, count, seen, times)


def test_fingerprints_chosen_to_crowd_one_place_are_sorted_all_the_same():
    """Who knows the seed can have any number of shingles in one bucket of the sort; by insertion these would take minutes."""
    n = 1_000_000
    values = np.random.default_rng(0).integers(0, 2**30, n, np.uint64) + np.uint64(2**63)
    out = np.empty(n, np.uint64)
    found = _distinct(values, n, np.empty(n, np.uint32), out)
    assert (out[:found] == np.unique(values)).all()
    crowd = np.concatenate([values[:50_000], values[:50_000]])
    before = crowd.copy()
    _repeats(crowd, len(crowd), np.empty(2 * len(crowd), np.uint64), np.empty(2 * len(crowd), np.uint32))
    assert len(np.unique(crowd)) == len(np.unique(np.stack([before, crowd]), axis=1)[0]) == len(crowd)


# --- floods: many items in one bucket, of which none is like another


def test_comparisons_in_a_crowded_bucket_are_bounded():
    """1,500 sets that share 7 elements of 10 meet in hundreds of buckets; a walk compares each with BUDGET others in a bucket and its splits."""
    n, bands = 1500, 4
    rows = pa.table({"elements": [[*range(7), *(1000 + 3 * i + j for j in range(3))] for i in range(n)]})
    found = lw.dedup(rows, by="elements", threshold=0.8, bands=bands, rows=1)
    assert len(found.removed) == 0
    assert found.report["compared"] <= n * bands * BUDGET * (1 + FINER) < n * (n - 1) // 2 * bands
    assert found.report["budget"]["cut"] > 0
    assert found.report["budget"]["missed_at_most"] > 0


def test_a_walk_is_weighed_by_its_budget():
    buckets = Buckets(np.zeros((1, 0), np.int32), np.array([2, 100, 10**6]), np.zeros(3, np.int64), no_splits(1))
    assert buckets.pairs() == 1 + 4950 + 10**6 * (10**6 - 1) // 2
    assert buckets.pairs(walk=True) == 1 + 4950 + 10**6 * BUDGET * (1 + FINER)


def test_one_shingle_that_all_share_and_one_bucket_that_holds_all():
    texts = [f"shared w{i}" for i in range(3000)]
    found = lw.dedup(texts, by="words:1", threshold=0.8)
    assert len(found.removed) == 0 and found.report["compared"] < 3000 * 20
    alike = lw.dedup([f"{'a b c d e f g h i j k l m n o p q r s t ' * 3} w{i}" for i in range(3000)], by="words:1", threshold=0.8)
    assert len(alike.kept) == 1 and alike.report["compared"] < 3 * 3000


# --- decompression bombs, and lengths that lie

PACK = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


@pytest.mark.parametrize("suffix", PACK)
def test_a_record_beyond_the_limit_is_refused_and_by_skip_set_aside_alone(suffix):
    """20 MB in a line, more than a chunk; 2 MB, within one. The lines around them stay what and where they are."""
    small = [(LINE % (i, i)).encode() for i in range(3)]
    bomb = [b'{"id": "bomb", "text": "' + b"x" * size + b'"}\n' for size in (20_000_000, 2_000_000)]
    Path(f"a.jsonl{suffix}").write_bytes(PACK[suffix](small[0] + bomb[0] + small[1] + bomb[1] + small[2] + b"oops\n"))
    said = refused("dedup", f"a.jsonl{suffix}", "-o", "out", "--max-record", "1M", "--overwrite")
    assert f"a.jsonl{suffix}, line 2, column 1" in said and "--max-record" in said and "--on-error skip" in said
    result = lw.dedup(Path(f"a.jsonl{suffix}"), out="skipped", max_record="1M", on_error="skip", threshold=1)
    assert result.report["counts"]["rejected"] == 3
    rejected = [json.loads(line) for line in Path("skipped/rejected.jsonl").read_text().splitlines()]
    assert [(row["position"], row["reason"].split(":")[0]) for row in rejected] == [
        (1, "line 2, column 1"),
        (3, "line 4, column 1 (0x7b)"),
        (5, "line 6, column 1 (0x6f)"),
    ]
    assert not rejected[0]["bytes"]
    with open_read(Path(f"skipped/kept/a.jsonl{suffix}")) as stream:
        assert stream.read() == b"".join(small)
    assert len(lw.dedup(Path(f"a.jsonl{suffix}"), max_record="32M", on_error="skip", threshold=1).kept) == 5


def test_the_limit_is_exact_in_every_format(monkeypatch):
    """A record of exactly the limit is read, one of a byte more is not; formats that cannot go on behind it say that of the file."""
    most = 100
    record = '{"text": "%s"}'
    fits, long = record % ("x" * (most - len(record) + 2)), record % ("x" * (most - len(record) + 3))
    assert len(fits) == most
    Path("a.jsonl").write_text(f"{fits}\n{long}\n{fits}\n")
    Path("b.json").write_text(f"[{fits},{long},{fits}]")
    Path("c.csv").write_text("text\n" + "x" * most + "\n" + "x" * (most + 1) + "\n" + "x" * most + "\n")
    pq.write_table(pa.table({"text": ["x" * most, "x" * (most + 1), "x" * most]}), "d.parquet")
    for name in ("a.jsonl", "b.json", "c.csv", "d.parquet"):
        with pytest.raises(DataError, match=f"{name}.*--max-record"):
            lw.dedup(Path(name), max_record=most)
        found = lw.dedup(Path(name), max_record=most, on_error="skip", copies="empty")
        assert (found.report["counts"]["rejected"], found.report["counts"]["read"]) == (1, 3), name
    monkeypatch.setattr(byte_formats, "CHUNK_BYTES", 16)
    for name in ("b.json", "c.csv"):
        with pytest.raises(DataError, match="--max-record"):
            lw.dedup(Path(name), max_record=50)
    assert lw.dedup(Path("a.jsonl"), max_record=most, on_error="skip").report["counts"]["rejected"] == 1


def test_a_text_file_and_a_row_of_an_array_have_the_limit_too():
    Path("texts").mkdir()
    Path("texts/a.txt").write_text("one two three")
    with open("texts/b.txt", "wb") as file:
        file.truncate(3 << 30)  # a hole: it takes no room on the disk
    assert "b.txt, the file has 3,221,225,472 bytes, and --max-record allows" in refused("dedup", "texts", "-o", "out")
    assert lw.dedup(Path("texts"), on_error="skip").report["counts"]["kept"] == 1
    np.lib.format.write_array_header_1_0(buffer := io.BytesIO(), {"descr": "<f8", "fortran_order": False, "shape": (1, 10**8)})
    Path("v.npy").write_bytes(buffer.getvalue())
    os.truncate("v.npy", len(buffer.getvalue()) + 8 * 10**8)
    assert "a row of this array has 800,000,000 bytes" in refused("pairs", "v.npy", "--by", "cosine")


@pytest.mark.parametrize(
    ("shape", "fortran", "said"),
    [
        ((10**15, 4), False, "is cut short: 32,000,000,000,000,128 bytes are expected"),
        ((-2, -3), False, "no side can be negative"),
        ((10**15, 0), False, "expected are vectors"),
        ((0, 10**15), True, "--max-record allows"),
        ((2**40, 2**40, 2**40), False, "is cut short"),
    ],
)
def test_headers_of_arrays_that_lie(shape, fortran, said):
    np.lib.format.write_array_header_1_0(buffer := io.BytesIO(), {"descr": "<f8", "fortran_order": fortran, "shape": shape})
    Path("a.npy").write_bytes(buffer.getvalue() + b"\0" * (48 if shape == (-2, -3) else 0))
    assert said in refused("pairs", "a.npy", "--by", "cosine")


@pytest.mark.parametrize("header", ["(" * 9000, "-" * 9000 + "1", "{'descr': " + "[" * 150, "__import__('os').system('touch ran')"])
def test_headers_of_arrays_are_not_run(header):
    text = header.encode().ljust(9100) + b"\n"
    Path("a.npy").write_bytes(b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text)
    assert "cannot be read as a .npy file" in refused("pairs", "a.npy", "--by", "cosine")
    assert not Path("ran").exists()


def test_pickled_objects_are_refused_unread():
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, ("ran",)

    np.save("a.npy", np.array([Evil()], object), allow_pickle=True)
    assert "Python objects" in refused("pairs", "a.npy", "--by", "cosine")
    assert not Path("ran").exists()
    source = Path(lw.__file__).parent
    text = "".join(path.read_text() for path in source.rglob("*.py"))
    assert not re.search(r"\bnp\.load\b|\bimport pickle\b|allow_pickle|\beval\(|\bexec\(|yaml|marshal", text)


def test_a_window_or_dictionary_of_gigabytes_is_not_allocated():
    try:
        data = lzma.compress(b"x", format=lzma.FORMAT_XZ, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 512 << 20}])
    except MemoryError:
        pytest.skip("no memory to make the file")
    Path("a.jsonl.xz").write_bytes(data)
    assert "needs more than 160 MiB of memory" in refused("dedup", "a.jsonl.xz", "-o", "out")
    frame = b"\x28\xb5\x2f\xfd\x00\xa8" + b"\x01\x00\x00"  # a frame of zstd with a window of 2 GiB
    Path("b.jsonl.zst").write_bytes(frame + b"\0" * 8)
    assert "needs a window of more than 128 MiB" in refused("dedup", "b.jsonl.zst", "-o", "out")


def test_members_without_end_cost_no_more_than_their_bytes():
    """Of each member what follows it was copied again, up to 256 KiB; a file of 20 MB took a minute."""
    Path("a.jsonl.gz").write_bytes(gzip.compress(b"") * 50_000 + b"\0" * 100_000 + gzip.compress((LINE % (1, "x")).encode()))
    with open_read(Path("a.jsonl.gz")) as stream:
        assert stream.source.step <= 1 << 14
    assert len(lw.dedup(Path("a.jsonl.gz")).kept) == 1


def test_a_value_that_stands_in_many_rows_is_not_decoded_for_all_of_them_at_once(monkeypatch):
    monkeypatch.setattr(batches, "CHUNK_BYTES", 1 << 20)
    long, rows = "x" * 100_000, 500
    text = pa.DictionaryArray.from_arrays(pa.array([None, *[1] * (rows - 2), 0], pa.int8()), ["short", long])
    runs = pa.RunEndEncodedArray.from_arrays([1, rows], ["short", long])
    views = pa.array([long] * rows, pa.string_view())
    for column in (text, runs, views):
        for batch in (pa.record_batch({"text": column}), pa.record_batch({"text": column}).slice(3)):
            chunks = list(batches.gather([batch], ["text"]))
            assert sum(len(chunk.data) for chunk in chunks) == batch.num_rows
            assert max(len(chunk.data) for chunk in chunks) <= 2 * batches.CHUNK_BYTES // 100_000 + 1  # one is null, and takes nothing
    assert of_rows(text).tolist() == [0, *[100_000] * (rows - 2), 5]
    assert of_rows(text.slice(rows - 2)).tolist() == [100_000, 5]
    assert of_rows(runs.slice(0, 2)).tolist() == [5, 100_000]
    assert of_rows(views.slice(2, 2)).tolist() == [100_000] * 2
    assert of_rows(pa.array(["a"])) is None


def test_parquet_pages_of_one_value_are_decoded_few_rows_at_a_time():
    table = pa.table({"text": pa.array(["x" * 1_000_000] * 300), "id": range(300)})
    pq.write_table(table, "a.parquet", compression="zstd")
    assert Path("a.parquet").stat().st_size < 100_000
    groups = footer.groups(Path("a.parquet"))
    assert 1_000_000 <= parquet._largest_dictionary(Path("a.parquet"), groups, ["text"]) <= 1_000_100
    most = 1 << 18
    file = parquet._open(Path("a.parquet"))
    sizes = [batch.num_rows for batch in parquet._batches(Path("a.parquet"), file, dict(enumerate(groups)), ["text"], most)]
    assert sum(sizes) == 300 and max(sizes) * 1_000_000 <= 64 * most
    for path in sorted(Path().glob("*.parquet")):
        plain = pa.table({"text": [str(i) for i in range(50)]})
        pq.write_table(plain, path, use_dictionary=False)
        assert parquet._largest_dictionary(path, footer.groups(path), None) == 1


@pytest.mark.parametrize("create", [ipc.new_file, ipc.new_stream])
@pytest.mark.parametrize("dictionary", [False, True])
def test_compressed_arrow_batches_say_how_large_they_become(create, dictionary):
    text = pa.array(["x" * 2_000_000, "y" * 2_000_000])
    table = pa.table({"text": text.dictionary_encode() if dictionary else text})
    for codec in ("zstd", "lz4", None):
        with pa.OSFile("a.arrow", "wb") as sink, create(sink, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_table(table)
        assert len(list(arrow.within(Path("a.arrow"), 5_000_000))) == 1
        if codec:
            with pytest.raises(DataError, match=r"a\.arrow: message . of this file says that it expands to 4,0.* 64 times --max-record"):
                list(arrow.within(Path("a.arrow"), 3_000_000))
            said = refused("dedup", "a.arrow", "-o", "out", "--max-record", "50K")
            assert "--max-record" in said
            raw = bytearray(Path("a.arrow").read_bytes())
            at = raw.rfind((4_000_000).to_bytes(8, "little"))
            raw[at : at + 8] = (2**60).to_bytes(8, "little")  # the length that a buffer claims
            Path("b.arrow").write_bytes(raw)
            assert "expands to 1,152,9" in refused("dedup", "b.arrow", "-o", "out")


# --- names and links


def test_names_never_lead_out_of_the_output(folder):
    """A pattern with .. in it leads to folders beside its own; so does a link before the dots."""
    deep, away = folder / "real/deep", folder / "else/where"
    for place in (deep / "sub", away):
        place.mkdir(parents=True)
    for number, path in enumerate((deep / "x.jsonl", folder / "else/x.jsonl")):
        path.write_text(LINE % (number, f"{number} " * 9))
    (folder / "link").symlink_to(deep)
    (deep / "away").symlink_to(away)
    for inputs in ([folder / "link" / "*" / ".." / "x.jsonl"], [deep / "away" / ".." / "x.jsonl", deep / "x.jsonl"], ["real/deep/*/../x.jsonl"]):
        lw.dedup([Path(given) for given in inputs], out="out", overwrite=True, threshold=1)
        kept = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*.jsonl"))
        assert kept == ["kept/else/x.jsonl", "kept/real/deep/x.jsonl", "rejected.jsonl"]
    assert sorted(path.name for path in folder.iterdir()) == ["else", "link", "out", "real"]


def test_links_in_circles_and_many_ways_to_one_folder_end(folder):
    """Two links to the folder that they are in make 2^40 paths; 30 folders with two links each to the next make 2^30."""
    circle = folder / "circle"
    circle.mkdir()
    (circle / "x.jsonl").write_text(LINE % (1, "x"))
    for name, to in (("one", "."), ("two", "."), ("self", "self"), ("gone", "nowhere")):
        (circle / name).symlink_to(to)
    os.link(circle / "x.jsonl", circle / "y.jsonl")  # one file, and read once
    chain = folder / "chain"
    for number in range(30):
        (chain / f"d{number}").mkdir(parents=True)
        if number < 29:
            for name in "ab":
                (chain / f"d{number}" / name).symlink_to(f"../d{number + 1}")
    (chain / "d29/x.jsonl").write_text(LINE % (2, "y"))
    for given in ("circle", "circle/**/*.jsonl", "circle/**", "**/circle/*.jsonl"):
        assert [source.name.rpartition("/")[2] for source in resolve([given])] == ["x.jsonl"], given
    for given in ("chain/d0", "chain/d0/**/*.jsonl"):
        assert len(resolve([given])) == 1
    deep = folder / "deep"
    place = deep
    for _ in range(1200):
        place.mkdir()
        place = place / "d"
    (deep / "d/d/x.jsonl").write_text(LINE % (3, "z"))
    assert len(resolve(["deep"])) == len(resolve(["deep/**/x.jsonl"])) == 1
    assert patterns.expanded("deep/d/d/*.jsonl") == [Path("deep/d/d/x.jsonl")]
    (deep / "d/d/x.jsonl").unlink()
    while place != deep:  # shutil cannot, in some versions of Python
        place = place.parent
        place.rmdir()


NAMES = [
    "a\x1b]0;owned\x07\x1b[31m.jsonl",
    "b\nlikewise: error: fake.jsonl",
    "--resume.jsonl",
    "-.jsonl",
    " .jsonl",
    "\u202egnp.jsonl",
    "c'$(touch ran)\\.jsonl",
    "%s{0}.jsonl",
]


def test_names_are_spelled_out_where_they_are_shown_and_kept_where_they_are_written(folder):
    Path("in").mkdir()
    for number, name in enumerate(NAMES):
        Path("in", name).write_text(LINE % (number, number) + LINE % (-1, "same"))
    shown = [
        run("dedup", "in", "-o", "out"),
        run("dedup", "in", "--dry-run"),
        run("dedup", "in", "-o", "o2", "--prefer", "\x1b[31m*"),
        run("dedup", "in", "-o", "o3", "--field", "none\x1b[31m"),
        run("show", "out", "nothing\x1b[2J"),
        run("show", "out", "-1"),
        run("pairs", "in\x1b[31m"),
        run("\x1b[31mverb"),
        run("pairs", "in", "--by", "\x1b[31m"),
        run("audit", "out"),
    ]
    for result in shown:
        assert "fault of likewise" not in result.output
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", result.output)
        assert not re.search("^likewise: error: fake", result.output, re.MULTILINE)
    assert sorted(path.name for path in Path("out/kept").iterdir()) == sorted(NAMES)
    assert not Path("ran").exists()
    sources = {source["source"] for source in json.loads(Path("out/report.json").read_text())["sources"]}
    assert sources == set(NAMES)  # data say what is


def test_messages_cannot_be_made_by_data(capsys):
    screen = Screen(color="always")
    screen.warn("x\nlikewise: error: no\x1b[2J\u2028")
    screen.rows([("name", "a\nb\x9b31m")])
    screen.document({"id": "\x9b31m\u202e\u2028</script>"})
    said = capsys.readouterr()
    assert said.err.count("\n") == 2 and "\\x1b[2J\\u2028" in said.err and "a\\nb\\x9b31m" in said.err
    assert not re.search("[\x80-\x9f\u202e\u2028]", said.out) and json.loads(said.out) == {"id": "\x9b31m\u202e\u2028</script>"}
    assert in_line("a\tb\r\n") == "a\tb\\r\\n"


def test_standard_input_beside_a_folder_of_its_name():
    Path("stdin").mkdir()
    Path("stdin/x.jsonl").write_text(LINE % (1, "x y z"))
    Path("b.jsonl").write_text(LINE % (2, "p q r"))
    result = run("dedup", "-", "stdin/x.jsonl", "b.jsonl", "-o", "out", "--threshold", 1, input=LINE % (3, "u v w"))
    assert result.exit_code == 0, result.output
    kept = sorted(path.relative_to("out/kept").as_posix() for path in Path("out/kept").rglob("*") if path.is_file())
    assert kept == ["b.jsonl", "stdin-2", "stdin/x.jsonl"]


# --- flags, settings and readers that could be made to work without end

LONG = "9" * 5000


@pytest.mark.parametrize(
    "flags",
    [
        ("--memory", LONG),
        ("--memory", "1e9"),
        ("--max-record", LONG),
        ("--max-record", "0"),
        ("--by", f"words:{LONG}"),
        ("--by", f"l{LONG}"),
        ("--by", "words:" + "٣" * 3),
        ("--threshold", "1e999999999"),
        ("--threshold", f"1/{LONG}"),
        ("--within", "1e-999999999"),
        ("--seed", LONG),
        ("--bands", LONG),
        ("--bands", "1000000000000"),
        ("--threads", "1000000000"),
        ("--limit", LONG),
        ("--recall", "nan"),
        ("--by", "cosine", "--field", f"x0..x{LONG}"),
        ("--by", "cosine", "--field", "x0..x99999999999"),
        ("--normalize", "nfc," * 10_000 + "x"),
        ("--keep", "max:"),
    ],
)
def test_numbers_without_end_are_refused(flags):
    Path("a.csv").write_text("id,text,x0,x1\n1,a b c d e,1,2\n")
    refused("dedup", "a.csv", "-o", "out", *flags)


def test_numbered_columns_may_have_any_number_of_digits():
    names = [f"x{LONG}", "x10", "x9", "x" + "0" * 5000 + "1"]
    Path("a.csv").write_text(",".join(names) + "\n4,3,2,1\n4,3,2,1\n")
    assert len(lw.pairs(Path("a.csv"), by="cosine", field="x*", threshold=0.9)) == 1


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "{a=" * 50_000, f"threshold = {LONG}", "\0", "x = '\\u" + "f" * 10_000])
def test_settings_files_that_are_none(text):
    Path("a.jsonl").write_text(LINE % (1, "x"))
    Path("bad.toml").write_text(text)
    assert "bad.toml: is not valid TOML" in refused("pairs", "a.jsonl", "--config", "bad.toml")
    Path("pyproject.toml").write_text(text)  # somebody else's trouble
    assert run("pairs", "a.jsonl").exit_code == 0


def test_json_columns_that_hold_no_json():
    Path("a.jsonl").write_text(LINE % (1, "x"))
    for text in ("[" * 100_000, "nonsense", LONG, '"one two three four five"', "-" * 10, '"\\ud800 b"'):
        column = pa.ExtensionArray.from_storage(pa.json_(), pa.array([text, None, '"one two three four five"']))
        table = pa.table({"doc": column, "id": column})
        assert lw.dedup(table, field="doc").report["counts"]["read"] == 3
        with suppress(LikewiseError):
            assert not len(lw.pairs(table, by="cosine", field="doc"))
    scores = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["9" * 4000, LONG, "[" * 100_000, "1"]))
    assert len(lw.dedup(pa.table({"text": list("abcd"), "s": scores}), keep="max:s").kept) == 4


def test_records_made_of_nothing_but_structure():
    """Empty lines, commas, brackets, keys and columns by the hundred thousand: each is read in one pass."""
    n = 200_000
    good = LINE % (1, "x")
    Path("lines.jsonl").write_text("\n" * n + good)
    Path("keys.jsonl").write_text("{" + ",".join(f'"k{i}":1' for i in range(n)) + ',"text":"a b c d e"}\n')
    Path("deep.jsonl").write_text('{"text":' + "[" * n + "\n" + good)
    Path("bad.jsonl").write_text("x\n" * 20_000 + good)
    Path("array.json").write_text("[" + "," * 20_000 + good + "]")
    Path("lines.csv").write_text("id,text\n" + "\n" * n + "1,a b c d e\n")
    Path("commas.csv").write_text("id,text\n" + "," * n + "\n1,a b c d e\n")
    Path("wide.csv").write_text("text," + ",".join(f"c{i}" for i in range(n // 10)) + "\na b c d e" + "," * (n // 10) + "\n")
    Path("digits.jsonl").write_text('{"id":' + "9" * n + ',"text":"a b c d e"}\n')
    for path in sorted(Path().glob("*.*")):
        found = lw.dedup(path, on_error="skip", out="out", overwrite=True)
        assert found.report["counts"]["kept"] == 1, path
    Path("open.csv").write_text('id,text\n"' + "a\n" * n)
    assert "open.csv, line 2, column 1" in refused("dedup", "open.csv", "-o", "o2")


def test_sources_that_cannot_be_read_are_named_a_few_times_and_empty_elements_are_rows():
    Path("a.json").write_text("[" + "," * 50 + '{"text": "a b"}]')
    found = lw.dedup(Path("a.json"), on_error="skip", out="out")
    assert found.report["counts"]["rejected"] == 50
    assert [json.loads(line)["position"] for line in Path("out/rejected.jsonl").read_text().splitlines()] == list(range(50))
    assert len(found.report["warnings"]) < 5
    Path("many").mkdir()
    for number in range(30):
        Path(f"many/{number:02}.json").write_text("[1")
    warnings = lw.dedup(Path("many"), on_error="skip").report["warnings"]
    assert len(warnings) < 10 and any("25 more sources" in said for said in warnings)


def test_lines_are_counted_once_however_many_chunks_have_something_to_tell(monkeypatch):
    """A resumed run does not know the number of its first line; each chunk with a bad record counted from the beginning of the file again."""
    monkeypatch.setattr(byte_formats, "CHUNK_BYTES", 1 << 12)
    lines = [b"oops\n" if i % 50 == 0 else b'{"text": "a %d"}\n' % i for i in range(5000)]
    Path("a.jsonl").write_bytes(b"".join(lines))
    start = len(b"".join(lines[:2000]))
    read = []
    count = byte_formats.count_lines
    monkeypatch.setattr(byte_formats, "count_lines", lambda stream, size, cr: read.append(size) or count(stream, size, cr))
    reasons = [r.reason for chunk in jsonl.chunks(Path("a.jsonl"), Want(), start) for r in jsonl.parse(chunk, Want(), "a").rejected]
    assert [reason.split(",")[0] for reason in reasons] == [f"line {i + 1}" for i in range(2000, 5000, 50)]
    assert sum(read) <= len(b"".join(lines))


# --- markup and formulas in data

EVIL = [
    '"><script>evil()</script>',
    "<img src=x onerror=evil()>",
    "</style><svg onload=evil()>",
    "javascript:evil()",
    "]]>&#x3c;evil&gt;",
    "{{evil}}${evil}",
    "\u2028evil\x00\ud800",
]


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}


def test_no_element_or_attribute_of_the_report_arises_from_data():
    """Texts, ids, names of fields, files and groups."""
    Path("in").mkdir()
    rows = [{"id": f"{bad} {i}", "text": f"{bad} one two three four five six {'x' * i}", bad: bad} for bad in EVIL for i in range(3)]
    for number, bad in enumerate(EVIL[:6]):
        name = bad.replace("/", "_").replace("\0", "")
        Path("in", f"{number}{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "in", "-o", "grouped", "--per", EVIL[0], "--threshold", "0.3").exit_code == 0
    result = run("dedup", "in", "-o", "out", "--prefer", "*<img*", "--threshold", "0.3", "--by", "words:2")
    assert result.exit_code == 0, result.output
    assert run("report", "out").exit_code == 0
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "evil" in page and "\0" not in page
    found = Elements()
    found.feed(page)
    assert not found.tags & {"script", "img", "iframe", "object", "embed", "link", "a", "form", "input", "base"}
    assert not any("evil" in name + value or name.startswith("on") or "javascript:" in value for name, value in found.attributes)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in found.attributes
    plain = Elements()
    Path("plain.jsonl").write_text("".join(json.dumps({"id": i, "text": f"a b c d e f {'x' * i}"}) + "\n" for i in range(3)))
    lw.dedup(Path("plain.jsonl"), out="plain", threshold=0.3, by="words:2")
    plain.feed(Path("plain/report.html").read_text())
    assert found.tags - plain.tags <= {"li", "ul", "strong", "details", "summary", "bdi", "br"}


def test_pictures_escape_what_they_are_told():
    picture = lw.plan(threshold=0.8, by="words:5").svg(lw.plan(threshold=0.7, by="chars:5"))
    tree = ET.fromstring(picture)
    assert {element.tag.rpartition("}")[2] for element in tree.iter()}.isdisjoint({"script", "image", "foreignObject", "a", "use"})
    from likewise.drawing.markup import tag

    assert tag("text", EVIL[0], title=EVIL[0]) == (
        '<text title="&quot;&gt;&lt;script&gt;evil()&lt;/script&gt;">&quot;&gt;&lt;script&gt;evil()&lt;/script&gt;</text>'
    )


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")', 'a,"b"', "a\nb", "\u2028", "</script>"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_ids_come_out_as_they_went_in_whatever_a_spreadsheet_makes_of_them(suffix):
    rows = [{"id": name, "text": "one two three four five six"} for name in FORMULAS]
    lw.pairs(rows).write(f"pairs{suffix}")
    if suffix == ".jsonl":
        listed = [json.loads(line) for line in Path("pairs.jsonl").read_text(encoding="utf-8").split("\n") if line]
        found = {row["id_a"] for row in listed} | {row["id_b"] for row in listed}
    elif suffix == ".parquet":
        table = pq.read_table("pairs.parquet")
        found = set(table["id_a"].to_pylist()) | set(table["id_b"].to_pylist())
    else:
        parse = pyarrow.csv.ParseOptions(delimiter="\t" if suffix == ".tsv" else ",", newlines_in_values=True)
        table = pyarrow.csv.read_csv(f"pairs{suffix}", parse_options=parse)
        found = set(table["id_a"].to_pylist()) | set(table["id_b"].to_pylist())
        first = Path(f"pairs{suffix}").read_text(encoding="utf-8").splitlines()[1]
        assert first.startswith('"')  # a cell that holds a text is quoted
    assert found == set(FORMULAS)


# --- files of our own that were made or changed by others


@pytest.fixture
def left(folder, monkeypatch) -> Path:
    """The work folder of a run that stopped after it had read its input."""
    Path("a.jsonl").write_text("".join(LINE % (i, "x" * (i % 3)) for i in range(50)))

    def stop(*_: object) -> None:
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "decide", stop)
        with pytest.raises(StoppedError):
            lw.dedup(Path("a.jsonl"), out="out")
    work = folder / "out.work"
    assert (work / "kind.col").exists()
    return work


def resumed(**choices: Any) -> Any:
    return lw.dedup(Path("a.jsonl"), out="out", resume=True, **choices)


def test_a_run_that_was_left_goes_on(left):
    assert stat.S_IMODE(left.stat().st_mode) == 0o700  # it holds what was read
    assert resumed().report["counts"]["read"] == 50


LAID = ["kind.col", "journal.jsonl", "work.json", "new.col", "scratch-0", "staged", "staged/report.json", "staged/kept", "stdin.part"]
FOLDERS = ["staged", "staged/kept"]  # which have no hard links


@pytest.mark.parametrize(("name", "hard"), [(name, hard) for name in LAID for hard in (False, True) if not (hard and name in FOLDERS)])
def test_links_in_a_work_folder_lead_nowhere(left, folder, name, hard):
    """They would be appended to, cut off, or written over, wherever they lead."""
    precious = folder / "precious"
    precious.write_bytes(b"keep me")
    path = left / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.link(precious, path) if hard else path.symlink_to(folder / "elsewhere" if name in FOLDERS else precious)
    (folder / "elsewhere").mkdir(exist_ok=True)
    with pytest.raises((FormatError, UsageError)):
        resumed()
    assert precious.read_bytes() == b"keep me" and not any((folder / "elsewhere").iterdir())


def test_links_laid_where_a_run_will_work_lead_nowhere(folder):
    """Before there is any run: a folder that somebody else made beside OUT, in a shared place."""
    (folder / "a.jsonl").write_text(LINE % (1, "x"))
    for name in ("journal.jsonl", "work.json.new", "stdin.part"):
        (folder / "precious").write_bytes(b"keep me")
        (folder / "out.work").mkdir(exist_ok=True)
        (folder / "out.work" / name).symlink_to(folder / "precious")
        with pytest.raises(FormatError, match="is a link"):
            lw.dedup(Path("a.jsonl"), out="out")
        assert (folder / "precious").read_bytes() == b"keep me"
        (folder / "out.work" / name).unlink()
    assert len(lw.dedup(Path("a.jsonl"), out="out").kept) == 1


def change(left: Path, **columns: bytes) -> None:
    """Write other columns into a work folder, checksums and all, as who forges one would."""
    lines = [json.loads(line) for line in (left / "journal.jsonl").read_text().splitlines()]
    for name, data in columns.items():
        (left / f"{name}.col").write_bytes(data)
        entries = [line for line in lines if name in line["columns"]]
        for entry in entries[1:]:
            del entry["columns"][name]
        with open(left / f"{name}.col", "rb") as file:
            entries[0]["columns"][name] = [len(data), checksum(file, len(data))]
    write_journal(left, lines)


def write_journal(left: Path, lines: list[Any]) -> None:
    last, journal = xxhash.xxh3_64_hexdigest((left / "work.json").read_bytes()), b""
    for line in lines:
        if isinstance(line, dict):
            line.pop("checksum", None)
        journal += sealed(json.dumps(line).encode(), last)
        last = checksum_of(journal)
    (left / "journal.jsonl").write_bytes(journal)


def test_columns_whose_sizes_lie_are_refused_before_a_kernel_goes_by_them(left):
    sizes = np.full(50, 1 << 30, "u4").tobytes()
    change(left, size=sizes)
    with pytest.raises(FormatError, match="does not fit together; delete the folder"):
        resumed()


@pytest.mark.parametrize("name", ["kind", "start", "id-size", "id-data", "digest", "copy", "sets", "band-003"])
@pytest.mark.parametrize("more", [False, True])
def test_columns_with_an_entry_too_many_or_too_few_are_refused(left, name, more):
    data = (left / f"{name}.col").read_bytes()
    change(left, **{name: data + data[:8] if more else data[:-8]})
    with pytest.raises(FormatError, match="does not fit together"):
        resumed()


def test_rows_that_overlap_are_not_copied(left):
    start = np.frombuffer((left / "start.col").read_bytes(), "i8").copy()
    start[1:] = 0
    change(left, start=start.tobytes())
    with pytest.raises(FormatError, match="overlap"):
        resumed()


@pytest.mark.parametrize(
    "line",
    [
        {"step": "chunk", "source": 0, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {"../../escape": [1, "x"]}},
        {"step": "chunk", "source": 0, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {"kind": [-5, "x"]}},
        {"step": "chunk", "source": 0, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {"kind": [10**18, "x"]}},
        {"step": "discard", "discarded": ["../../a.jsonl"], "columns": {}},
        {"step": "discard", "discarded": 7, "columns": {}},
        {"step": "publish", "columns": {}},
        {"step": "chunk", "source": 99, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {}},
        {"step": "chunk", "source": 0, "rows": -5, "next": 9, "found": True, "fields": [], "columns": {}},
        {"step": "write", "file": "kept/0", "outputs": 3, "columns": {}},
        [],
        "x" * 100,
    ],
)
def test_journals_that_say_what_cannot_be(left, line):
    before = (left.parent / "a.jsonl").read_bytes()
    write_journal(left, [*map(json.loads, (left / "journal.jsonl").read_text().splitlines()), line])
    try:
        assert resumed().report["counts"]["read"] == 50  # what is no line of a journal ends it
    except FormatError as error:
        assert "delete the folder" in str(error)
    assert (left.parent / "a.jsonl").read_bytes() == before


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000, json.dumps({"verb": "dedup"})])
def test_a_work_description_of_something_else(left, text):
    (left / "work.json").write_text(text)
    with pytest.raises((FormatError, UsageError), match=r"out\.work"):
        resumed()


def mutants(value: Any) -> list[Any]:
    """A document with one of its parts gone, or of another type."""
    found: list[Any] = [[], None, "x", -1]
    if isinstance(value, dict):
        for name, part in value.items():
            found += [{**value, name: other} for other in mutants(part)[:6]] + [{key: each for key, each in value.items() if key != name}]
    elif isinstance(value, list) and value:
        found += [[other, *value[1:]] for other in mutants(value[0])[:6]]
    return found


def forge(path: Path, value: Any) -> None:
    """Another document in place of one of an output, with checksums that say it is the right one."""
    sealed = isinstance(value, dict) and path.name != "report.json"
    path.write_text(json.dumps({**value, SEAL: seal(value)} if sealed else value))
    if path.name == "report.json":
        manifest = json.loads((path.parent / "manifest.json").read_text())
        manifest["outputs"] = [each for each in manifest["outputs"] if each["path"] != path.name] + checksums([path], path.parent)
        del manifest[SEAL]
        forge(path.parent / "manifest.json", manifest)


def test_documents_of_an_output_that_were_changed_are_told_of(folder):
    """manifest.json, run.json, report.json, one part of each gone or of another type: a message, or an answer; no traceback."""
    Path("a.jsonl").write_text("".join(LINE % (i, "x" * (i % 2)) for i in range(6)))
    lw.dedup(Path("a.jsonl"), out="out")
    for name in ("manifest.json", "run.json", "report.json"):
        path = Path("out", name)
        whole, manifest = path.read_text(), Path("out/manifest.json").read_text()
        value = json.loads(whole)
        value.pop(SEAL, None)
        for number, other in enumerate(mutants(value)):
            forge(path, other)
            for command in (("show", "out", "1"), ("report", "out"))[number % 2 : number % 2 + 1]:
                result = run(*command)
                assert result.exit_code in (0, 2) and "fault of likewise" not in result.output, (name, other)
        path.write_text("[" * 100_000)
        assert ("not as likewise wrote it" if name == "report.json" else "is damaged") in refused("show", "out", "1")
        path.write_text(whole)
        Path("out/manifest.json").write_text(manifest)
    Path("out/removed.parquet").write_bytes(b"PAR1" + b"\xff" * 100 + b"PAR1")
    assert "out" in refused("show", "out", "1")


# --- compiled kernels are code: who may write them

CACHE = "from likewise.kernels import jit; print(jit.CACHE)"


def cache_with(**changes: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")} | changes
    source = str(Path(lw.__file__).parents[1])
    env["PYTHONPATH"] = os.pathsep.join([source, env.get("PYTHONPATH", "")])
    return subprocess.run([sys.executable, "-c", CACHE], env=env, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other permissions")
def test_kernels_are_loaded_from_folders_that_nobody_else_can_write_to(folder):
    home, temporary = folder / "home", folder / "tmp"
    (home / "likewise").mkdir(parents=True)
    temporary.mkdir()
    where = {"XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary)}
    (home / "likewise").chmod(0o777)  # as an umask of 0 made it
    found = Path(cache_with(**where))
    assert found.parent == home / "likewise" and not (home / "likewise").stat().st_mode & 0o022
    found.chmod(0o777)  # somebody could have put code there
    assert Path(cache_with(**where)).parent.parent == temporary
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert cache_with(NUMBA_CACHE_DIR=str(shared)) == "None"
    shared.chmod(0o1777)  # sticky: only owners may move what is there
    assert Path(cache_with(NUMBA_CACHE_DIR=str(shared))).parent == shared
    link = folder / "link"
    link.symlink_to(shared)
    assert Path(cache_with(NUMBA_CACHE_DIR=str(link))).parent == shared  # where a link leads later does not matter


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="takes root to give a folder away")
def test_kernels_of_another_user_are_not_loaded(folder):
    home, temporary = folder / "home", folder / "tmp"
    (home / "likewise").mkdir(parents=True)
    temporary.mkdir()
    where = {"XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary)}
    edition = Path(cache_with(**where))
    os.chown(edition, 12345, 12345)
    assert Path(cache_with(**where)).parent.parent == temporary
    os.chown(home / "likewise", 12345, 12345)
    (temporary / "likewise-0").rename(folder / "mine")
    (temporary / "likewise-0").mkdir()
    os.chown(temporary / "likewise-0", 12345, 12345)
    assert cache_with(**where) == "None"


def test_temporary_folders_are_made_for_this_user_alone(folder, monkeypatch):
    seen = []
    monkeypatch.setattr(
        Work, "begin", lambda work, made: seen.append(stat.S_IMODE(work.folder.stat().st_mode)) or (_ for _ in ()).throw(StoppedError)
    )
    with pytest.raises(StoppedError):
        lw.pairs(["a b c d e", "a b c d f"])
    assert seen == [0o700]


def test_rejected_rows_of_a_passed_over_record_have_no_text():
    Path("a.jsonl").write_bytes(b'{"text": "' + b"x" * (9 << 20) + b'"}\n{"text": "a"}\n')
    want = Want(most=1 << 20, id="id", per="p", score="s")
    rows = [jsonl.parse(chunk, want, "a") for chunk in jsonl.chunks(Path("a.jsonl"), want)]
    assert [row.kind.tolist() for row in rows] == [[REJECTED], [0]] and [row.text.to_pylist() for row in rows] == [[b""], [b"a"]]
    assert rows[0].start[0] + rows[0].length[0] == rows[1].start[0]
    assert jsonl.sample(Path("a.jsonl"), want).text.to_pylist() == [b"a"]
    assert npy.KIND
