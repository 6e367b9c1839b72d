"""likewise plan"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.choices import TAKES
from likewise.cli.screen import Screen, counted, duration, percent, size, typed, width
from likewise.cli.verbs import INPUTS, inputs, verb
from likewise.drawing.numbers import few, shown
from likewise.io.address import place
from likewise.kinds.kind import ASKED, TARGET
from likewise.messages import in_document
from likewise.methods import parse

if TYPE_CHECKING:
    from likewise.planning import Plan
    from likewise.records import Want

#: Maximum number of columns of the table.
MOST_COLUMNS = 4
#: Width of a column of the table that compares layouts.
WIDE = 13
#: The factor by which a collection exceeds the part that was read before `plan` says so.
MORE = 1.05
#: Mark of the threshold in tables, and the line that explains it.
THRESHOLD = "*"
MARKED = f"{THRESHOLD} the threshold"


@verb(
    "plan",
    "[INPUT...]",
    examples=("plan pages.jsonl --threshold 0.8 --recall 0.99", "plan --threshold 0.6 --layouts 2x25,5x10,10x5 --svg curves.svg"),
    flags=f"{TAKES['plan']} svg overwrite config json quiet color",
    arguments=[inputs("[INPUT...]", required=False)],
    notes=INPUTS,
    recall={"brief": ""},
    bands={"brief": ""},
    rows={"brief": ""},
    seed={"help": "Seed of the sample of INPUT."},
    items={"shown": "those of INPUT, or 1,000,000"},
    overwrite={"help": "Replace the SVG file.", "brief": None},
)
def command(
    screen: Screen, inputs: tuple[str, ...] = (), layouts: str | None = None, svg: str | None = None, overwrite: bool = False, **choices: Any
) -> None:
    from likewise.planning.layouts import parse_layouts
    from likewise.planning.presets import PRESETS

    preset = PRESETS.get(choices.get("preset", ""))
    by = choices.get("by") or (preset.by if preset else "words:5")
    chart = None if svg is None else place(svg)
    if chart is not None:
        check(chart, inputs, by, choices.get("field"), overwrite=overwrite)
    plans = planned(screen, inputs, parse_layouts(layouts, choices), **choices)
    if chart is not None:
        from likewise.io.placing import new_file

        with new_file(chart, overwrite=overwrite, flag="--svg") as file:
            file.write(plans[0].svg(*plans[1:]).encode())
    if screen.json:
        documents = [document(plan, str(by)) for plan in plans]
        screen.document(documents[0] if layouts is None else {"schema": "likewise/plans/1", "plans": documents})
        return
    for line in described(plans[0], str(by)) if layouts is None else compared(plans, str(by)):
        screen.data(line)
    if preset:
        screen.data("")
        screen.data(f"{choices['preset']}: {preset.by}, {preset.bands} x {preset.rows}, for {preset.threshold}: {preset.says}")
    if inputs and layouts is None:
        screen.data("")
        screen.data(f"next  {following(inputs, plans[0], choices)}")
    if chart:
        screen.say(f"wrote {chart}")
    for message in dict.fromkeys(message for plan in plans for message in plan.warnings):
        screen.warn(message)


def check(chart: Path, inputs: Sequence[str], by: Any, field: str | None, *, overwrite: bool) -> None:
    """Check the path of the chart before the work. Loads Arrow, which a plan without a chart does not need. Raises UsageError."""
    from likewise.cli import output_file
    from likewise.records import Want

    read = wanted(by, field) if inputs and chart.exists() else Want()
    output_file.check(chart, inputs, read, [], overwrite=overwrite, formats=[".svg"], flag="--svg")


def wanted(by: Any, field: str | None) -> Want:
    """The fields of the inputs that a sample reads."""
    from likewise.options import resolve
    from likewise.runs.inspection import want

    return want(resolve(limited=False, by=by, field=field))


#: Flags of `plan` to repeat in the command of `dedup`.
KEPT = ("by", "normalize", "field", "records", "html", "threshold", "within", "sketch", "seed")


def following(inputs: Sequence[str], plan: Plan, choices: dict[str, Any]) -> str:
    """The command that runs the plan."""
    by_preset = ("preset",) if plan.chosen_by.startswith("preset ") else ()
    given = [(name, one) for name in (*by_preset, *KEPT) if name in choices for one in several(choices[name])]
    flags = [part for name, one in given for part in (f"--{name}", str(one))]
    if not by_preset:
        flags += ["--bands", str(plan.bands), "--rows", str(plan.rows)]
        if "preset" in choices:
            flags = ["--preset", str(choices["preset"]), *flags]
    return typed(["likewise", "dedup", *inputs, "-o", "clean", *flags])


def several(value: Any) -> Sequence[Any]:
    """The values of a flag, which may be repeatable."""
    return value if isinstance(value, tuple) else (value,)


def planned(screen: Screen, inputs: tuple[str, ...], layouts: Sequence[dict[str, int]], **choices: Any) -> list[Plan]:
    """A plan for each layout, from a sample of the inputs if there are any. Readers are loaded only then."""
    if inputs:
        from likewise.cli import progress
        from likewise.verbs.plan import plans

        shown = progress.progress_on(screen)
        shown.begin("sampling", 0, "items")  # this compiles kernels, and reports it
        try:
            return plans([place(given) for given in inputs], layouts, **choices)
        finally:
            shown.finish()
    from likewise.options import parse_seed
    from likewise.planning import layouts as planning

    parse_seed(choices.get("seed", 0))  # not used without inputs, but checked
    asked = {name: value for name, value in choices.items() if name not in ("seed", "field", "records", "html", "normalize")}
    return planning.planned(asked, layouts, choices.get("normalize"))


def document(plan: Plan, by: str) -> dict[str, Any]:
    points = [list(point) for point in plan.table()]
    return {"schema": "likewise/plan/1", "by": by, **plan.to_dict(), "curve": points, "warnings": list(map(in_document, plan.warnings))}


def recall_of(threshold: float, recall: float | None, place: str = "at", guaranteed: bool = True) -> str:
    """The expected recall in words. recall: None if it is not known. guaranteed: the recall is at least this, not about this."""
    if recall is None:
        return "not guaranteed"
    if recall == 1:
        return "100%"
    number = f"at least {percent(recall, down=True)}" if guaranteed else f"about {percent(recall)}"
    return f"{number} of pairs {place} {shown(threshold)}"


def described(plan: Plan, by: str) -> Iterator[str]:
    """The plan in words."""
    at, falling = float(plan.threshold), plan.collision.distances
    yield f"{by} {plan.place}: {plan.layout}, {counted(plan.slots, 'slot')} ({plan.sketch or plan.functions}, {purpose(plan)})"
    more = f", and a higher share of {'nearer' if falling else 'more similar'} pairs" if plan.recall < 1 else ""
    yield f"Expected recall: {recall_of(at, plan.recall, 'at a distance of' if falling else 'at', plan.guaranteed)}{more}."
    yield ""
    from likewise.cli import curve

    glyphs = curve.glyphs(sys.stdout.encoding)
    yield from curve.draw(plan.curve, at, min(61, width(78) - 8), 10, glyphs, span=plan.span, falling=falling)
    yield ""
    yield from table(plan, at)
    yield ""
    sample = plan.model.density.sample
    known = f"estimated from a sample of {sample:,}" if sample else "assuming that few are similar"
    pairs = f"{few(plan.candidates * plan.items)} pairs ({few(plan.candidates)} per item)"
    yield f"For {counted(plan.items, 'item')} of {length(plan, by)}:"
    yield f"  comparisons  about {pairs}, {known}"
    yield f"  memory       about {size(plan.memory)}, plus fixed buffers"
    yield f"  disk         {size(plan.disk)} during the run"
    yield f"  time         about {duration(plan.core_seconds)} on one core"
    yield from advised(plan, by)
    kind = parse(by).compared
    if kind.bands == ASKED and not plan.model.sparse:
        how = "a join with the same recall" if kind.recall == TARGET else "an exact similarity join"
        yield f"dedup and pairs use bands for {kind.name} only if you set --bands, --rows or --slots; the default is {how}."


def advised(plan: Plan, by: str) -> Iterator[str]:
    """How similar the items are to each other, and what several thresholds would keep."""
    if plan.advice is None:
        return
    from likewise.report.wording import measured, nouns

    one, several = nouns(by) if measured(by) else ("text", "texts")
    falling = plan.collision.distances
    yield ""
    sampled = counted(plan.advice.sampled, f"sampled {one}", f"sampled {several}")
    yield f"{sampled}, each compared with {counted(plan.advice.compared, f'different {one}', f'different {several}')}:"
    head = f"have a similar {one}"
    yield f"  {'distance' if falling else 'threshold':>9}  {head:24}  a removal keeps"
    for row in plan.advice.to_list():
        mark = THRESHOLD if row["threshold"] == float(plan.threshold) else " "
        some = f"{100 * row['similar']:.1f}% ({100 * row['low']:.1f} to {100 * row['high']:.1f}%)"
        yield f"{mark} {written(row['threshold'], falling):>9}  {some:{max(24, len(head))}}  about {100 * row['kept']:.1f}%"
    if plan.items > MORE * plan.advice.compared:
        yield f"The inputs have about {plan.items:,} different {several}. Of all these, more have a similar one, so a removal keeps a smaller share."


def length(plan: Plan, by: str) -> str:
    """The assumed length of items."""
    model = plan.model
    if model.of_sets:
        method = parse(by)
        return f"{model.shingles:,.0f} {'shingles' if method.kind.cut else method.facts.parts} each"
    return f"{model.numbers:,} {model.family.unit} each" + ("" if model.dimension or model.sparse else " (see --dimension)")


def purpose(plan: Plan) -> str:
    if plan.chosen_by != "plan":
        return "set by hand" if plan.chosen_by == "hand" else f"from the {plan.chosen_by}"
    return "planned for the minimum error" if plan.tune == "error" else f"planned for a recall of {plan.target:g}"


def compared(plans: Sequence[Plan], by: str) -> Iterator[str]:
    """Several layouts in one chart and one table."""
    from likewise.drawing.curves import Drawn

    first = plans[0]
    at, falling = float(first.threshold), first.collision.distances
    drawn = [Drawn(f"{plan.bands} x {plan.rows}", plan.curve) for plan in plans]
    yield f"{by} {first.place}"
    yield ""
    from likewise.cli import curve

    yield from curve.draw_many(drawn, at, min(61, width(78) - 8), 16, curve.glyphs(sys.stdout.encoding), span=first.span, falling=falling)
    yield ""
    yield f"{'distance' if falling else 'similar':>9}" + "".join(f"{each.label:>{WIDE}}" for each in drawn)
    for value in sorted({*(value for value, _ in first.table()), at}):
        cells = "".join(f"{percent(plan.curve(value)):>{WIDE}}" for plan in plans)
        yield f"{THRESHOLD if value == at else ' '}{written(value, falling):>8}{cells}"
    yield MARKED


def table(plan: Plan, at: float) -> Iterator[str]:
    """Similarity or distance, and the probability that such a pair is found, column by column."""
    points = sorted({*plan.table(), (at, plan.curve(at))})
    pairs = [
        (f"{THRESHOLD if value == at else ' '} {written(value, plan.collision.distances)}", percent(probability)) for value, probability in points
    ]
    head = f"  {'distance' if plan.collision.distances else 'similar'}", "found"
    widths = [max(len(each[side]) for each in (head, *pairs)) for side in (0, 1)]
    cells = [f"{left:{widths[0]}}  {right:>{widths[1]}}" for left, right in (head, *pairs)]
    columns = max(1, min(MOST_COLUMNS, (width() + 4) // (len(cells[0]) + 4)))
    rows = -(-len(pairs) // columns)
    yield "    ".join([cells[0]] * len(range(0, len(pairs), rows)))
    for row in range(rows):
        yield "    ".join(cells[1:][row::rows])
    yield MARKED


def written(value: float, distance: bool) -> str:
    return f"{value:.4g}" if distance or round(value, 2) != value else f"{value:.2f}"
