"""The step `header`: what stands before the first line of code, in languages with different comments."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.items.normalize import normalize
from likewise.items.normalized import normalizer
from likewise.methods import steps

#: Header and code.
FILES = {
    "python": (
        "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n#\n# Copyright 2024\n#   all rights\n\n#coding=utf-8\n#Copyright\n",
        '"""Doc."""\nimport os  # x\n',
    ),
    "bom": ("\ufeff# -*- coding: utf-8 -*-\r\n#\r\n\r\n", "import os\r\n"),
    "c": ("/*\n * Copyright\n * # // -- ; %\n */\n\n// more\n", "#include <stdio.h>\n// main\nint main() {}\n"),
    "c in one line": ("/* a */ /* b */ ", "int x; /* c */"),
    "rust": ("// SPDX\n/// doc\n", "#![allow(dead_code)]\n#[derive(Debug)]\nstruct A;\n"),
    "c#": ("// notice\n", "#region Usings\nusing System;\n"),
    "java": ("/** Copyright **/\n", "package a;\n/** Doc. */\nclass A {}\n"),
    "php": ("<?php\n/*\n * notice\n */\n", "namespace A;\n"),
    "sql": ("-- notice\n--\n", "SELECT 1; -- one\n"),
    "lua": ("--[[ notice\nlocal x\n]]\n-- more\n", "local y = 1\n"),
    "haskell": ("{- notice\n-}\n-- | Doc.\n", "module A where\n"),
    "ocaml": ("(* notice\n *)\n", "let x = 1 (* one *)\n"),
    "lisp": (";;; notice\n;\n#| block\n|#\n; more\n", "(defun f ())\n"),
    "javascript with a semicolon first": ("// notice\n", ";(function () {})()\n"),
    "erlang": ("%% notice\n%\n", "-module(a).\n"),
    "fortran": ("! notice\n!\n", "program a\n"),
    "powershell": ("<# notice\n#>\n# more\n", "param($x)\n"),
    "html": ("<!-- notice\n-->\n", "<template></template>\n"),
    "xml": ('<?xml version="1.0"?>\n<!-- notice -->\n', "<a/>\n"),
    "none": ("", "x = 1\n# later\n"),
    "unclosed": ("", "/* never closed\nint x;\n"),
    "markdown heading": ("# Title\n\n", "Text\n"),
}


@pytest.mark.parametrize(("header", "code"), FILES.values(), ids=FILES)
def test_code_stays_from_its_first_line_on(header, code):
    assert normalize(header + code, steps("header")) == code.lstrip()
    assert normalize(code, steps("header")) == code.lstrip()
    if header:
        assert normalize(header, steps("header")) == header  # of a text of nothing but comments all stays
        one, other = header + code + " a b c d", code + " a b c d"
        assert lw.similarity(one, other, by="code:1", normalize="header") == 1 > lw.similarity(one, other, by="code:1/bag")


@settings(max_examples=100, deadline=None)
@given(parts=st.lists(st.sampled_from(["# a\n", "//b\n", "/*", "*/", "x", "\n", "#", "(*", "*)", "é", " ", "\ud800"]), max_size=8))
def test_what_stays_is_the_end_of_the_text(parts):
    """It begins with code, so the step changes it no more; batches and single texts agree."""
    import numpy as np
    import pyarrow as pa

    text = "".join(parts)
    after = normalize(text, steps("header"))
    assert text.endswith(after) and (bool(after) or not text)
    assert normalize(after, steps("header")) == after
    data, start, length, chars, _ = normalizer(steps("header"))(
        pa.array([text.encode("utf-8", "surrogatepass")] * 2, pa.large_binary()), np.ones(2, bool)
    )
    assert [data[at : at + size].tobytes() for at, size in zip(start, length, strict=True)] == [after.encode("utf-8", "surrogatepass")] * 2
    assert chars.tolist() == [len(text)] * 2


def test_it_comes_before_all_other_steps():
    assert steps(["lower,ip", "re:x+", "header"]) == ("header", "re:x+", "ip", "lower")
    assert normalize("# 10.0.0.1\nCONNECT 10.0.0.2", steps("lower,ip,header,re:#")) == "connect 0"


def test_time_in_proportion_to_the_text():
    for part in ("/*", "#", "# a\n", "(*", "<!--", "/**/", "\n", "--[["):
        text = part * (2_000_000 // len(part)) + "x"
        assert len(normalize(text, steps("header"))) >= 1
