"""The verb `plan`. Without inputs it loads neither numpy nor kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Never

from likewise.choices import Html, Number, Sketch, Tune, given
from likewise.methods import Measure, Text
from likewise.options import parse_seed
from likewise.planning import Plan
from likewise.planning.families import family_for
from likewise.planning.layouts import parse_layouts, planned

if TYPE_CHECKING:
    from likewise.planning.advice import Advice
    from likewise.runs.session import Inputs


def plan(
    inputs: Inputs | None = None,
    *,
    by: str | Text | Measure | None = None,
    threshold: Number | None = None,
    within: Number | None = None,
    recall: float | None = None,
    normalize: str | Sequence[str] | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    html: Html | None = None,
    bands: int | None = None,
    rows: int | None = None,
    slots: int | None = None,
    sketch: Sketch | None = None,
    tune: Tune | None = None,
    layouts: str | Sequence[tuple[int, int]] | None = None,
    preset: str | None = None,
    family: str | None = None,
    dimension: int | None = None,
    items: int | None = None,
    seed: int | str | None = None,
    **unknown: Never,
) -> Plan:
    """Plan bands and rows for a threshold and a recall target, and predict their recall and cost.

    inputs: files or data as for `dedup`; for sets, weighted sets, vectors and codes also a batch as for `similarity`. A sample of them provides the
    similarities of pairs and the number of distinct items; without inputs, the plan assumes both.

    ===================  ====================================================================================================================
    option               meaning (default)
    ===================  ====================================================================================================================
    ``by``               shingles of texts (words:5, ...), or a measure: elements, weighted, cosine, angle, l1, l2, hamming, features (words:5)
    ``threshold``        minimum similarity, above 0 and up to 1; a string such as "4/5" is exact (0.8; by image/region 0.5)
    ``within``           maximum distance, in place of ``threshold``; for texts and sets it is 1 - similarity
    ``recall``           minimum probability that a pair at the threshold is found, above 0 and below 1 (0.99)
    ``normalize``        steps before texts are cut into tokens: "nfc,lower", ["masks", "re:id=[0-9]+"], or "none" (depends on the unit)
    ``field``            column of a table that contains the items (text, elements, vector or code)
    ``records``          path of the list of records inside a JSON document
    ``html``             what to read of web pages in archives: their "text", the "main" text, or the "raw" source (text)
    ``bands``, ``rows``  number of bands, and of rows in each; if one is given, the other is planned or follows from ``slots`` (planned)
    ``slots``            maximum length of a signature (planned)
    ``sketch``           MinHash with one permutation, "oph", or with many, "classic" (oph)
    ``tune``             plan for the "recall", or for the minimum "error" (area between curve and step), without a guarantee (recall)
    ``layouts``          several layouts to compare, such as "2x25,5x10" or [(2, 25), (5, 10)]; the others are ``plan.others`` (none)
    ``preset``           published layout (likewise.planning.presets); explicit options override it
    ``family``           hash family, if the measure has several (the first)
    ``dimension``        dimension of vectors or number of bits of codes, if no data are given (384 for vectors)
    ``items``            number of items to predict for (those of ``inputs``, else 1,000,000)
    ``seed``             seed of the sample; "random" draws one (0)
    ===================  ====================================================================================================================

    Raises UsageError for unknown or invalid options, for a target that no layout reaches, and for data that are not a batch; DataError for files that
    cannot be read. `likewise.families.from_plan` makes the family of a plan.

    >>> import likewise as lw
    >>> p = lw.plan(threshold=0.8, recall=0.99)
    >>> p.curve(0.8) >= 0.99
    True
    >>> lw.plan(by="hamming", within=3, dimension=64).recall >= 0.99
    True
    """
    options = given("plan", locals())
    first, *others = plans(inputs, parse_layouts(options.pop("layouts", None), options), **options)
    return replace(first, others=tuple(others)) if others else first


def plans(
    inputs: Inputs | None,
    layouts: Sequence[dict[str, int]],
    normalize: str | Sequence[str] | None = None,
    field: str | Sequence[str] | None = None,
    seed: int | str | None = 0,
    records: str | None = None,
    html: str | None = None,
    **typed: Any,
) -> list[Plan]:
    """`plan` for each of several layouts, ``bands`` and ``rows`` or nothing, by one sample."""
    number = parse_seed(0 if seed is None else seed)
    found: list[Advice | None] = []

    def known(method: Text | Measure) -> dict[str, Any]:
        if inputs is None:
            return {}
        family_for(method, typed.get("family"))  # before all pairs of the sample are compared for nothing
        from likewise.runs.pilot import sampled

        pilot = sampled(inputs, method, field, number, threshold=typed.get("threshold"), within=typed.get("within"), records=records, html=html)
        found.append(pilot.advice)
        return {"items": pilot.items, "sample": pilot.density, "facts": pilot.facts, "shingles": pilot.shingles}

    made = planned(typed, layouts, normalize, known)
    return [replace(plan, advice=found[0]) for plan in made] if found else made
