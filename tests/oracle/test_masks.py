"""Masks: examples by hand, and the compiled automaton against Python's regular expressions."""

from __future__ import annotations

import re
import uuid
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from ipaddress import IPv4Address, IPv6Address

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.items.automata import START, automaton
from likewise.items.masks import masked
from likewise.items.normalize import normalize
from likewise.items.normalized import normalizer
from likewise.methods import MASKS, steps
from placed import values

#: mask, values, each of which becomes 0 wherever it stands alone.
VALUES = {
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "00000000-0000-0000-0000-000000000000", "C2D29867-3D0B-D497-9191-18A9D8EE7830"],
    "ip": [
        *("10.0.0.1", "255.255.255.255", "10.0.0.1:8080", "192.168.0.0/16", "::1", "fe80::1%eth0", "2001:db8::8a2e:370:7334", "2001:db8::/32"),
        *("1:2:3:4:5:6:7:8", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "1:2:3:4:5:6:10.0.0.1", "[2001:db8::1]:443", "1::", "A:B::C"),
    ],
    "dates": [
        *("2024-05-01", "2024/5/1", "2024.05.01", "20240501", "01.05.2024", "5/1/2024", "17/06/09", "01.05.24", "2024-05"),
        *("2024-05-01T12:30:05Z", "2024-05-01 12:30:05,123", "2024-05-01T12:30:05.123456+02:00", "2024-05-01 12:30:05.1+02", "2024-05-01 12:30"),
        *("20240501T123005Z", "20171223-22:15:29:606", "20171223-22:5:9:6", "20111213_140500", "2005-06-03-15.42.50.363779", "17/06/09 20:10:40"),
        *("10/Oct/2000:13:55:36 -0700", "Jun 14 15:16:01", "Jun  9 06:06:01", "Sun, 06 Nov 1994 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"),
        *("Thu Jun 09 06:07:04 UTC 2005", "03-17 16:13:38.811", "10.30 16:49:06", "12:30", "12:30:05", "23:59:60", "12:30 PM", "3pm", "12:30:05 UTC"),
        *("6 November 1994", "November 6, 1994", "November 6th, 1994", "5th May", "May 5", "March 2024", "06-Nov-1994", "Sunday, 5 May 2024 at 9:05"),
    ],
    "hex": ["0x1F", "0XdeadBEEF", "a1b2c3d", "1234567", "DEADBEEF0", "d41d8cd98f00b204e9800998ecf8427e", "00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7"],
    "numbers": [
        *("0", "42", "-7", "+3", "−5", "3.14", ".5", "1,234,567.89", "1.2.3", "6.02e23", "1e-5", "80%", "3.5GB", "12ms", "5µs", "1h30m15s", "1m2.5s"),
        *(
            "512MiB",
            "10Gbit/s",
            "5MB/s",
            "100kbps",
            "64bit",
            "2.4GHz",
            "21°C",
            "90°",
            "12V",
            "3kWh",
            "16px",
            "2x",
            "500K",
            "7d",
            "10mins",
            "5km",
            "70kg",
        ),
    ],
}
#: mask, text, text after it.
IN_TEXTS = [
    ("uuid", "id=123e4567-e89b-12d3-a456-426614174000;", "id=0;"),
    ("uuid", "123e4567-e89b-12d3-a456-4266141740001", "123e4567-e89b-12d3-a456-4266141740001"),  # a digit too many
    ("ip", "/10.0.0.1:50010, (10.0.0.2) 10.0.0.256 1.2.3", "/0, (0) 10.0.0.256 1.2.3"),
    ("ip", "std::string 12:30:05 :: a v10.0.0.1", "std::string 12:30:05 :: a v10.0.0.1"),
    ("dates", "[2024-05-01 12:30:05] 2024-13-01 25:30 I may", "[0] 2024-13-01 25:30 I may"),
    ("dates", "10:00-11:00, 15:00-16:00; version 1.2.9, 1.2.10", "0-0, 0-0; version 1.2.9, 1.2.10"),
    ("dates", "es ist 10:30 est, 10:30 EST", "es ist 0 est, 0"),
    ("hex", "commit a1b2c3d; decade deadbeef 123456 a1b2c3g", "commit 0; decade deadbeef 123456 a1b2c3g"),
    ("numbers", "web-12 5-7 eth0 v2 2nd blk_-160 blk_71 3D x2", "web-0 0-0 eth0 v2 2nd blk_0 blk_0 3D x2"),
    ("numbers", "価格は100円 ٣٤ 5e\u0301 ²", "価格は0円 0 5e\u0301 ²"),
    ("numbers", "80%x 80% 12msx 5 ms", "0%x 0 12msx 0 ms"),
    ("masks", "2024-05-01 10:00:00 10.0.0.1 got 0x1F in 20ms for a1b2c3d", "0 0 got 0 in 0 for 0"),
]


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in MASKS for value in VALUES[name]])
def test_values_become_one_word(name, value):
    for before, after in (("", ""), ("at ", " again"), ("(", ")"), ("key=", ","), ("価", "円"), ("_", "_")):
        assert masked(before + value + after, (name,)) == before + "0" + after
    for before, after in (("x", ""), ("", "é"), ("é", "")):  # a part of a word is no value
        assert value == "0" or masked(before + value + after, (name,)) != before + "0" + after
    if name == "dates" or value in ("10.0.0.1", "0x1F"):
        assert masked(value, MASKS) == "0"


@pytest.mark.parametrize(("names", "text", "expected"), IN_TEXTS)
def test_masks_by_hand(names, text, expected):
    assert normalize(text, steps(names)) == expected


#: Characters of values, their neighbors, and characters that case folding or other scripts would confuse.
ATOMS = [
    *"0123456789abcdefABCDEFxXTZ:.,-/_+% []msGBkhe−µ",
    "Jan",
    "may",
    "Mon",
    "AM",
    "UTC",
    "::",
    "é",
    "\u0301",
    "円",
    "\u200b",
    "٣",
    "²",
    "\ud800",
    "\n",
    "ſ",
    "\u212a",
]
LIKE_VALUES = st.lists(st.one_of(st.sampled_from(ATOMS), st.sampled_from([value for values in VALUES.values() for value in values])), max_size=6).map(
    "".join
)


def replaced(text: str, names: tuple[str, ...]) -> str:
    """The definition: at the first place where a value of any mask begins, the longest becomes 0, and so on after it."""
    out, at = "", 0
    for begin, end in values(text, names):
        out, at = out + text[at:begin] + "0", end
    return out + text[at:]


@pytest.mark.parametrize("names", [*((name,) for name in MASKS), ("uuid", "hex", "numbers"), MASKS])
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(LIKE_VALUES, max_size=4))
def test_the_kernel_replaces_what_regular_expressions_define(names, texts):
    """Bytes behind the texts let the kernel process all of them in blocks; without any, only character by character."""
    every = [*texts, "behind " * 20]
    array = pa.array([text.encode("utf-8", "surrogatepass") for text in every], pa.large_binary())
    data, start, length, chars, _ = normalizer(names)(array, np.arange(len(every)) < len(texts))
    got = [data[at : at + size].tobytes().decode("utf-8", "surrogatepass") for at, size in zip(start.tolist(), length.tolist(), strict=True)]
    assert got == [*(replaced(text, names) for text in texts), ""]
    assert got[:-1] == [masked(text, names) for text in texts]
    assert chars.tolist() == [*map(len, texts), 0]


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", r"\.", "[ab]", "[a-c]", "[-a]", "(?i:A)"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,}", "{0,2}", "{1,3}"])).map(lambda pair: f"({pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(pattern=EXPRESSIONS, texts=st.lists(st.text("abcA.-", max_size=6), max_size=10))
def test_automata_accept_what_expressions_match(pattern, texts):
    found = automaton(pattern)
    for text in texts:
        state = START
        for char in text:
            state = found.moves[state, found.symbols.get(char, 0)]
        assert found.accepts[state] == (re.fullmatch(pattern, text) is not None)


@settings(max_examples=40, deadline=None)
@given(number=st.integers(2**64, 2**128 - 1), moment=st.datetimes(datetime(1900, 1, 1), datetime(2999, 1, 1)), hours=st.integers(-12, 14))
def test_values_as_the_standard_library_writes_them(number, moment, hours):
    zoned = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    times = (moment.isoformat(), zoned.isoformat(), zoned.isoformat(" ", "milliseconds"), moment.ctime(), format_datetime(zoned))
    forms = [
        moment.strftime(form) for form in ("%d/%b/%Y:%H:%M:%S +0000", "%b %e %H:%M:%S", "%Y%m%dT%H%M%SZ", "%m/%d/%Y %I:%M:%S %p", "%A, %d %B %Y")
    ]
    assert [masked(form, ("dates",)) for form in (*times, *forms)] == ["0"] * 10
    addresses = (IPv6Address(number), IPv4Address(number % 2**32), IPv6Address(number).exploded, IPv6Address(number >> 64 << 64 | number % 2**16))
    assert [masked(str(address), ("ip",)) for address in addresses] == ["0"] * 4
    assert masked(f"{uuid.UUID(int=number)}", ("uuid",)) == "0"


def test_masks_need_time_in_proportion_to_the_text():
    """Beginnings that never become values, and values one after the other: a search that begins again at each character would take hours."""
    for part in ("1.", "1,", "a:", "::", "ab-", "1-", "f", "0x", "May ", "1h", "+", "1:1:", "[1::", "2024-01-01 "):
        assert len(masked(part * (4_000_000 // len(part)) + "z", MASKS)) > 1


def test_patterns():
    assert steps([r"re:user=\w+", "lower", "ip,re:[a-z]{2,3}-[0-9]"]) == (r"re:user=\w+", "re:[a-z]{2,3}-[0-9]", "ip", "lower")
    assert normalize("USER user=Bob ab-1 abcd-1", steps([r"re:user=\w+", "lower", "ip,re:[a-z]{2,3}-[0-9]"])) == "user 0 0 a0"
    assert normalize("\ud800x1\ud800é22", steps("re:[0-9]+")) == "\ud800x0\ud800é0"
    assert normalize("id 10.0.0.1-7", steps("ip,re:[0-9.]+-7")) == "id 0"  # patterns come first, in the text as it was read
    assert normalize("(ab)" * 3 + "\n^", steps(r"re:(\(ab\))+$")) == "(ab)(ab)(ab)\n^" and normalize("a\nb", steps("re:(?m)^.")) == "0\n0"


def test_patterns_in_time_proportional_to_the_text():
    """Python's own expressions would take longer than the universe exists."""
    assert normalize("a" * 100_000 + "!", steps("re:(a+)+$")) == "a" * 100_000 + "!"


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ("re:(", r"normalize='re:\(': this is not a regular expression: missing \): \(; the syntax is that of RE2"),
        ("re:(?=a)", "without look-around"),
        (r"re:(a)\1", r"invalid escape sequence: \\1"),
        ("lower,re:a*", "matches the empty text"),
        ("re:", "matches the empty text"),
        ("re:\ud800", "not a regular expression"),
        ("guid", "unknown step 'guid'; choose from header, uuid, ip, dates, hex, numbers, nfc, .*masks .*re:REGEX; or none alone"),
        ("none,lower", "unknown step 'none'; .*; or none alone"),
        (["lower", 5], "a list of such strings"),
        ([], "no step is named"),
        ("", "no step|empty string"),
    ],
)
def test_steps_that_are_refused(names, says):
    with pytest.raises(lw.UsageError, match=says):
        lw.similarity("a", "b", normalize=names)


def test_all_masks_have_one_name():
    assert steps("masks") == MASKS == steps(["numbers", "masks", "uuid"]) == steps("hex,ip,dates,uuid,numbers")


LINES = [
    template.format(
        ip=IPv4Address(17 * n**3 % 2**32),
        n=n * n,
        u=uuid.UUID(int=n**17 % 2**128),
        h=f"{n**9:x}",
        t=(datetime(2024, 1, 1) + timedelta(hours=7 * n)).isoformat(),
    )
    for n in range(1, 101)
    for template in (
        "{t} Failed to connect to {ip} after {n} ms (request {u})",
        "{t} User {u} logged in from {ip}",
        "{t} Disk usage at {n} percent on host web-{n}",
        "{t} GC pause {n}s heap 0x{h} -> 0x{h}",
    )
]


@pytest.mark.parametrize("by", ["words:1", "words:3", "chars:5", "whitespace:2", "lines:1", "paragraphs:1", "bytes:5", "code:2"])
def test_log_lines_of_four_templates_leave_four(by):
    assert len(lw.dedup(LINES, by=by, threshold=0.9, normalize="masks").removed) == 396
    assert lw.similarity(LINES[0], LINES[4], by=by, normalize="masks") == 1 > lw.similarity(LINES[0], LINES[4], by=by)
