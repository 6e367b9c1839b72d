"""The verb `plan`. Without inputs it loads neither numpy nor kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from likewise.choices import OfPlan, refuse_empty, refuse_others
from likewise.methods import Measure, Text
from likewise.options import parse_seed
from likewise.planning import Plan
from likewise.planning.families import family_for
from likewise.planning.layouts import planned

if TYPE_CHECKING:
    from likewise.runs.session import Inputs


def plan(
    inputs: Inputs | None = None,
    *,
    by: str | Text | Measure | None = None,
    normalize: str | None = None,
    field: str | Sequence[str] | None = None,
    records: str | None = None,
    seed: int | str | None = 0,
    items: int | None = None,
    preset: str | None = None,
    **choices: Unpack[OfPlan],
) -> Plan:
    """Bands and rows for a threshold and a recall target, and what they promise and cost.

    inputs: files or data, as `dedup` takes them; of sets, weighted sets, vectors and codes also a batch as `similarity` takes it. A sample
    says how alike pairs are, in place of what is assumed, and how many different items there are.

    =============  =======================  ====================================================================================================
    choice         type                     meaning; what is not given, or None, is the default
    =============  =======================  ====================================================================================================
    ``by``         str, Text, Measure       what is compared: words:5 and so on; elements, weighted, cosine, angle, l1, l2, hamming, features
    ``normalize``  str                      steps that even a text out, as ``likewise plan --help`` lists them
    ``field``      str or a list of str     the column of a table that holds the items; text, elements, vector or code
    ``records``    str                      the list of records inside of a JSON document
    ``threshold``  number or str            the least similarity, above 0 and up to 1; 0.8
    ``within``     number or str            in its place the greatest distance; of texts and sets 1 - similarity
    ``recall``     float                    the least chance that a pair at the threshold is found, above 0 and below 1; 0.99
    ``bands``      int                      both: the layout by hand; one alone: the other is planned, or is what ``slots`` leaves
    ``rows``       int
    ``slots``      int                      the most slots of a signature
    ``sketch``     "oph", "classic"         how MinHash fills them
    ``tune``       "recall", "error"        for what: the recall, or the least area between the curve and a step, which promises no recall
    ``family``     str                      the hash family, where a measure has several
    ``dimension``  int                      numbers of a vector, or bits of a code, where no data tell; vectors are taken to have 384
    ``items``      int                      how many items to predict for, where not those of ``inputs``; 1,000,000
    ``preset``     str                      a published recipe (likewise.planning.presets); what is given beside it counts
    ``seed``       int, "random"            draws the sample
    =============  =======================  ====================================================================================================

    Raises UsageError for a choice that there is not or that cannot be, for a target that no layout reaches, for what is no batch; DataError for
    a file that cannot be read. `likewise.families.from_plan` makes the family of a plan.

    >>> import likewise as lw
    >>> p = lw.plan(threshold=0.8, recall=0.99)
    >>> p.curve(0.8) >= 0.99
    True
    >>> lw.plan(by="hamming", within=3, dimension=64).recall >= 0.99
    True
    """
    refuse_others("plan", choices)
    refuse_empty(inputs=inputs, by=by, normalize=normalize, field=field, preset=preset, **choices)
    return plans(inputs, [{}], normalize, field, seed, records, **choices, by=by, items=items, preset=preset)[0]


def plans(
    inputs: Inputs | None,
    layouts: Sequence[dict[str, int]],
    normalize: str | None = None,
    field: str | Sequence[str] | None = None,
    seed: int | str | None = 0,
    records: str | None = None,
    **typed: Any,
) -> list[Plan]:
    """`plan` for each of several layouts, ``bands`` and ``rows`` or nothing, by one sample."""
    number = parse_seed(0 if seed is None else seed)

    def known(method: Text | Measure) -> dict[str, Any]:
        if inputs is None:
            return {}
        family_for(method, typed.get("family"))  # before all pairs of the sample are compared for nothing
        from likewise.runs.pilot import sampled

        pilot = sampled(inputs, method, field, number, records)
        return {"items": pilot.items, "sample": pilot.density, "facts": pilot.facts, "shingles": pilot.shingles}

    return planned(typed, layouts, normalize, known)
