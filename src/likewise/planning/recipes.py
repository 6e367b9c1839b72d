"""Published recipes to remove test data from training data, in their true unit, with what differs here.

Each compares n-grams: n consecutive tokens of a test item and of a training document. Only what decides is reproduced, not the data sets, tokenizers
and thresholds of other steps.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any

from likewise import methods
from likewise.errors import UsageError
from likewise.messages import option
from likewise.methods import Text

#: The object of a decision: passages of training documents, whole training documents, or test items only.
PASSAGES, DOCUMENTS, ITEMS = "passages", "documents", "items"
#: Lower case without punctuation, as in the papers; symbols stay. Composition makes Unicode forms equal.
PLAIN = ("nfc", "lower", "invisible", "punct")
#: Units of text that have n-grams, and tokens of an n-gram by default; in REPEATED where a collection is searched for its own repeats, of which
#: short ones are mostly phrases.
RUNS = {**dict.fromkeys(("words", "whitespace", "code"), 12), "chars": 60, "lines": 3, "paragraphs": 3}
REPEATED = {**dict.fromkeys(("words", "whitespace", "code"), 50), "chars": 250, "lines": 3, "paragraphs": 2}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to decide which training text is test data."""

    decides: str = PASSAGES
    by: str = "words"
    run: int | None = None  # tokens of an n-gram; None: by unit, as RUNS
    normalize: tuple[str, ...] | None = None  # None: those of the unit
    around: int = 0  # characters removed before and after each common n-gram
    piece: int = 0  # of what is left between, pieces of fewer characters are removed too
    pieces: int | None = None  # documents that fall into more pieces are removed; None: all may stay
    common: int | None = None  # n-grams in more training documents are left out; None: all count
    of_ngrams: bool = False  # the share of a test item that was seen is counted in n-grams, not in tokens
    share: Fraction = Fraction(0)  # a test item is contaminated if at least this share of it was seen, and at least one n-gram
    source: str = ""
    differs: str = ""  # from the source


#: Without a preset: the common passages are cut out, and nothing else.
OWN = Recipe()

RECIPES = {
    "gpt3": Recipe(
        PASSAGES,
        "whitespace",
        13,
        PLAIN,
        around=200,
        piece=200,
        pieces=10,
        common=10,
        source="Brown et al. 2020, Language Models are Few-Shot Learners, appendix C",
        differs="the paper does not say whether the 200 characters are on each side (here they are) or which pieces count (here all, before short "
        "ones are removed); Unicode forms and invisible characters are made equal",
    ),
    "datatrove": Recipe(
        DOCUMENTS,
        "words",
        12,
        ("nfc", "lower", "accents", "invisible", "punct"),
        source="the n-gram decontamination of datatrove, pipeline/decont/n_grams.py",
        differs="words instead of the tokens of NLTK; all of an item is searched for, not only its answer with the end of the question; numbers, "
        "weekdays and months stay",
    ),
    "deepseek-math": Recipe(
        DOCUMENTS,
        "words",
        10,
        source="Shao et al. 2024, DeepSeekMath, section 2.1",
        differs="items of fewer than 10 words are listed as too short; the paper looks for equal texts of 3 to 9 words. What a segment is stays "
        "open there; here it is the document",
    ),
    "lm-eval": Recipe(
        ITEMS,
        "whitespace",
        13,
        PLAIN,
        source="the decontamination of EleutherAI's lm-evaluation-harness, docs/decontamination.md, after Brown et al. 2020, appendix C",
        differs="Unicode forms and invisible characters are made equal",
    ),
    "palm": Recipe(
        ITEMS,
        "words",
        8,
        of_ngrams=True,
        share=Fraction(7, 10),
        source="Chowdhery et al. 2022, PaLM, section 8",
        differs="an item is one text; the paper looks at question, prompt and target",
    ),
    "llama2": Recipe(
        ITEMS,
        "words",
        11,
        share=Fraction(4, 5),
        source="Touvron et al. 2023, Llama 2, appendix A.6 (dirty: 80 percent of the tokens or more)",
        differs="words instead of tokens of the model; no skips, of which the paper allows 4 tokens in a span",
    ),
}

#: Options that have no meaning where n-grams decide.
WITHOUT = (
    *("threshold", "within", "recall", "exact", "bands", "rows", "slots", "sketch", "tune", "per", "min_tokens", "ignore_common"),
    *("groups", "also_inside", "verify", "keep", "prefer", "copies", "pairs"),
)


def named(name: object) -> Recipe:
    """The recipe with this name. Raises UsageError for unknown names."""
    if not isinstance(name, str) or name not in RECIPES:
        near = difflib.get_close_matches(str(name), RECIPES, 1)
        raise UsageError(f"{option('preset', name)}: {f'did you mean {near[0]}? ' if near else ''}choose one of {', '.join(RECIPES)}")
    return RECIPES[name]


def with_recipe(choices: dict[str, Any], *, alone: bool = False) -> dict[str, Any]:
    """The options of a run at the level of passages, completed by those of its preset. Raises UsageError for options that do not belong to it.

    alone: there is no second collection.
    """
    asked = option("level", "passage")
    if idle := [option(name, choices[name]) for name in WITHOUT if choices.get(name) is not None]:
        raise UsageError(f"{' and '.join(idle)}: {asked} removes runs of equal tokens; leave {'this' if len(idle) == 1 else 'these'} out")
    preset, choices = choices.get("preset"), {name: value for name, value in choices.items() if name != "preset"}
    recipe = OWN if preset is None else named(preset)
    by, steps = choices.get("by", recipe.by), choices.get("normalize")
    if steps is None and not isinstance(by, Text):
        steps = recipe.normalize
    tokens = methods.tokens(by, steps, RUNS)
    usual = recipe.run if tokens.unit == recipe.by and recipe.run else (REPEATED if alone else RUNS)[tokens.unit]
    run = choices.get("min_run", usual)
    if isinstance(run, bool) or not isinstance(run, Integral) or not 1 <= int(run) <= methods.MAX_K:
        raise UsageError(f"{option('min_run', run)}: give a number of tokens from 1 to {methods.MAX_K}")
    method = replace(tokens, k=int(run))
    return choices | {"by": method, "normalize": None, "min_run": method.k, "exact": True, "preset": preset}
