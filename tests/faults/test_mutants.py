"""Tests of the tests: faults that other programs had are put into a copy of the source, and the named tests must fail on it.

Each fault is a few lines of one file. The tests that are named are about behavior (means, chances, decisions), not stored values.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Mutant:
    fault: str
    file: str  # below src/likewise
    old: str  # occurs there once
    new: str
    killers: tuple[str, ...]  # tests that must fail, below tests/; one without its parameters for some of them


#: One of each kind (hashes, widths of numbers, decisions), for a run without --all.
FEW = ("summed band keys", "pairs in 32 bits", "empty sets estimate as equal")
MUTANTS = {
    "summed band keys": Mutant(
        "a band's key is the sum of its slots: sums of small minima concentrate, and strangers meet",
        "kernels/minhash.py",
        """\
    for j in range(begin, end - 1, 2):
        state = multiply_fold(state ^ (np.uint64(slots[j]) << np.uint64(32) | np.uint64(slots[j + 1])), np.uint64(FOLD))
    if (end - begin) & 1:
        state = multiply_fold(state ^ np.uint64(slots[end - 1]), np.uint64(FOLD))
""",
        """\
    for j in range(begin, end):
        state += np.uint64(slots[j])
""",
        ("oracle/test_minhash.py::test_narrow_keys_collide_as_probability_says", "oracle/test_minhash.py::test_keys_know_the_order_of_slots"),
    ),
    "band keys of 32 bits": Mutant(
        "a million items make a hundred false meetings in each band",
        "kernels/minhash.py",
        "    return mix64(state)\n",
        "    return np.uint64(np.uint32(mix64(state)))\n",
        (
            "oracle/test_minhash.py::test_narrow_keys_collide_as_probability_says",
            "kinds/test_widths.py::test_each_bit_of_each_slot_moves_half_of_the_key",
        ),
    ),
    "half slots in band keys": Mutant(
        "two slots are packed into one word with too short a shift, and lie over each other",
        "kernels/minhash.py",
        "(np.uint64(slots[j]) << np.uint64(32) | ",
        "(np.uint64(slots[j]) << np.uint64(16) | ",
        ("kinds/test_widths.py::test_each_bit_of_each_slot_moves_half_of_the_key",),
    ),
    "unmixed ids, oph": Mutant(
        "an element is taken for its own hash: consecutive numbers fall side by side",
        "kernels/minhash.py",
        "mixed[i] = mix64(values[begin + i] ^ key)",
        "mixed[i] = values[begin + i] ^ key",
        (
            "statistics/test_statistics.py::test_structured_elements[highest byte-1000-oph]",
            "statistics/test_statistics.py::test_one_element_falls_into_any_slot[100]",
        ),
    ),
    "unmixed ids, classic": Mutant(
        "a * x + b of the bare number, the textbook's own: similarity .53 is reported where .6 is true",
        "kernels/minhash.py",
        "        fill(mixed, size, row.size, multipliers, addends, least, words)\n",
        """\
        for c in range(row.size):
            least[c] = np.uint32(EMPTY)
            for i in range(size):
                least[c] = min(least[c], np.uint32(multipliers[c] * np.uint32(values[begin + i] ^ key) + addends[c]))
""",
        (
            "statistics/test_statistics.py::test_structured_elements[consecutive-40-classic]",
            "statistics/test_statistics.py::test_two_runs_of_consecutive_integers[2000-classic]",
        ),
    ),
    "rotation": Mutant(
        "an empty slot borrows the value of the next one that is filled (Shrivastava and Li 2014): slots agree in groups",
        "kernels/minhash.py",
        "        row[empty[c]] = (least[c] >> np.uint32(1)) | np.uint32(FILLED)\n",
        """\
        j = empty[c] + 1
        while row[j % row.size] & np.uint32(FILLED):  # empty, or borrowed itself
            j += 1
        row[empty[c]] = row[j % row.size] | np.uint32(FILLED)
""",
        (
            "statistics/test_statistics.py::test_the_curve_of_16_bands_of_8_rows[oph-4-100]",
            "statistics/test_statistics.py::test_a_band_agrees_no_more_often_than_chance[200-oph]",
        ),
    ),
    "empty slots are equal": Mutant(
        "slots without an element stay empty, and empty slots of two sets count as equal: small sets look similar",
        "kernels/minhash.py",
        "    if count == 0:\n",
        "    if count >= 0:\n",
        ("statistics/test_statistics.py::test_mean_and_variance[16-8-oph]", "statistics/test_statistics.py::test_no_slot_is_favored[50-128-oph]"),
    ),
    "mixing in 32 bits": Mutant(
        "the upper half of an element is lost before it is mixed: ids that differ there alone are one",
        "kernels/hashing.py",
        "    x = np.uint64(x)\n    x ^= x >> np.uint64(33)\n",
        "    x = np.uint64(np.uint32(x))\n    x ^= x >> np.uint64(33)\n",
        (
            "statistics/test_statistics.py::test_structured_elements[high half-40-oph]",
            "statistics/test_statistics.py::test_structured_elements[high half-40-classic]",
        ),
    ),
    "threshold in 32 bits": Mutant(
        "sizes times the threshold's numerator overflow: unlike sets pass, like ones fail",
        "kernels/sets.py",
        "(numerator * (size_a + size_b) + total - 1) // total",
        "np.int64(np.int32(numerator * (size_a + size_b) + total - 1)) // total",
        ("kinds/test_widths.py::test_a_threshold_of_nine_digits",),
    ),
    "places in 32 bits": Mutant(
        "a set beyond 4 GiB of the work folder is read from 4 GiB before it",
        "kernels/walk.py",
        "8 * offset[item]) != 8 * count",
        "np.int64(np.uint32(8 * offset[item]))) != 8 * count",
        ("kinds/test_widths.py::test_sets_beyond_four_gigabytes",),
    ),
    "offsets of 32 bits": Mutant(
        "the elements of all sets are numbered in 32 bits",
        "runs/items.py",
        "    offset = np.cumsum(size, dtype=np.int64) - size",
        "    offset = np.cumsum(size, dtype=np.uint32) - size",
        ("kinds/test_widths.py::test_more_elements_than_32_bits_can_number",),
    ),
    "pairs in 32 bits": Mutant(
        "the pairs of a large bucket are counted in 32 bits",
        "stages/buckets.py",
        "(sizes * np.minimum(sizes - 1, most) // 2)",
        "(sizes.astype(np.int32) * np.minimum(sizes - 1, most).astype(np.int32) // 2)",
        ("kinds/test_widths.py::test_one_bucket_of_a_million_has_half_a_trillion_pairs",),
    ),
    "empty sets estimate as equal": Mutant(
        "all slots of two empty sets are the same value, so that their share of equal slots is 1",
        "families/similarity.py",
        "        share = np.where(both_empty, np.nan, share)\n",
        "",
        ("oracle/test_minhash.py::test_estimates",),
    ),
    "empty items are copies": Mutant(
        "items without a token collapse into the first of them",
        "runs/distinct.py",
        '    copy, copied = collection.column("copy"), live\n',
        '    copy, copied = collection.column("copy"), live | empty\n',
        ("oracle/test_dedup.py::test_empty_items_are_kept_unless_they_are_to_be_copies",),
    ),
    "a kilobyte an opening": Mutant(
        "each store that reads an index leaves a kilobyte when it is closed",
        "index/embedded/reader.py",
        "                self.closed = CLOSED\n",
        "                self.closed = CLOSED\n                vars(Reader.close).setdefault('left', []).append(bytes(1000))\n",
        ("faults/test_index_lasting.py::test_opening_again_and_again",),
    ),
    "transitive closure": Mutant(
        "connected components of the verified pairs go, but for their first item: A goes for C because B is like both",
        "stages/walk.py",
        "    compared = sum(number for _, _, number in done)\n",
        """\
    compared = sum(number for _, _, number in done)
    from likewise.kernels.unionfind import roots
    from likewise.stages.verify import all_pairs

    linked = list(all_pairs(sets, buckets, np.zeros(0, np.uint8)))
    linked = np.concatenate([np.empty((0, 4), np.int64), *linked])
    least = roots(n, linked[:, 0].copy(), linked[:, 1].copy())
    state[:, 0] = np.where(least == np.arange(n), -1, least)
""",
        (
            "oracle/test_walk.py::test_a_long_chain_keeps_every_second_item",
            "oracle/test_dedup.py::test_a_chain_never_removes_an_item_for_one_that_is_not_similar",
        ),
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A folder with a copy of likewise; one for all mutants, so that kernels which a mutant leaves alone are compiled once."""
    folder = tmp_path_factory.mktemp("mutants")
    shutil.copytree(ROOT / "src/likewise", folder / "likewise", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@contextmanager
def mutated(copy: Path, mutant: Mutant) -> Iterator[None]:
    """The copy with the mutant's fault in it."""
    path = copy / "likewise" / mutant.file
    source, times = path.read_text(), path.stat()
    assert source.count(mutant.old) == 1, f"{mutant.file} has changed: state again where to put the fault"
    path.write_text(source.replace(mutant.old, mutant.new))
    try:
        yield
    finally:
        path.write_text(source)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # the name of the cache of kernels depends on it


def run_tests(copy: Path, tests: tuple[str, ...]) -> tuple[int, str]:
    """Exit status and output of pytest on the copy, with samples in full. Nothing of it is kept outside the copy's folder."""
    aside = {"NUMBA_CACHE_DIR": "kernels", "HYPOTHESIS_STORAGE_DIRECTORY": "hypothesis", "XDG_CACHE_HOME": "cache"}
    environment = os.environ | {name: str(copy / folder) for name, folder in aside.items()}
    path = os.pathsep.join([str(copy), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment |= {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "250"}
    command = [sys.executable, "-P", "-m", "pytest", "-p", "no:cacheprovider", "--tb=no", "-rf", "--all", *(f"tests/{test}" for test in tests)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", MUTANTS if metafunc.config.getoption("--all") else FEW)


def test_the_fault_is_noticed(name, copy):
    mutant = MUTANTS[name]
    with mutated(copy, mutant):
        status, said = run_tests(copy, mutant.killers)
    assert status == 1, f"the tests pass with this fault: {mutant.fault}\n{said}" if status == 0 else said
    failed = re.findall(r"^FAILED tests/(.*?) - (.*)", said, re.MULTILINE)
    assert [killer for killer in mutant.killers if not any(test.startswith(killer) for test, _ in failed)] == [], said
    assert all(why.startswith(("assert ", "AssertionError")) for _, why in failed), said


def test_without_a_fault_the_same_tests_pass(copy, scaled):
    """A control: what fails above fails for the fault, not for the copy."""
    status, said = run_tests(copy, tuple(dict.fromkeys(killer for name in scaled(MUTANTS, FEW) for killer in MUTANTS[name].killers)))
    assert status == 0, said
