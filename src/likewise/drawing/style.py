"""Colors, light and dark, and the style rules of pages, of charts, and of charts in files of their own."""

from __future__ import annotations

import re

#: Colors by name, on a light and on a dark page. Areas and lines also differ by pattern or dashes, so that no information is in color alone.
COLORS = {
    "ink": ("#1a1a18", "#e9e7e2"),
    "faint": ("#5f5e59", "#a3a19a"),
    "ground": ("#fffefb", "#161614"),
    "card": ("#f6f4ee", "#20201d"),
    "rule": ("#dcd8cd", "#3b3a35"),
    "accent": ("#a5331b", "#f08a6c"),
    "kept": ("#aeb4b8", "#5d656b"),
    "exact": ("#8f2a15", "#f08a6c"),
    "equal": ("#bd5638", "#cf6a4c"),
    "near": ("#d98a6c", "#a5492f"),
    "rejected": ("#6b7075", "#8d959d"),
    "missed": ("#a5331b", "#f08a6c"),
    "needless": ("#4f6f8c", "#7fa5c8"),
    "curve": ("#1a1a18", "#e9e7e2"),
    "second": ("#7b3fa8", "#bd93e0"),
    "third": ("#1d7a4c", "#5cc08d"),
    "del": ("#fbe1d7", "#5a2a1b"),
    "ins": ("#dfe8ef", "#22405a"),
    "warn": ("#fdf3d8", "#332b12"),
    "warn-rule": ("#c98a00", "#d79a00"),
}

#: Rules for the output of `svg.svg` and `curves`. Each begins with the chart's class, because a page may contain the chart and its style sheet.
CHART = """
.chart text { font: 13px system-ui, sans-serif; fill: var(--faint); }
.chart .strong { fill: var(--ink); font-weight: 600; }
.chart .number { font-size: 11px; font-weight: 600; fill: var(--ink); }
.chart .page { fill: var(--ground); }
.chart .grid { stroke: var(--rule); }
.chart .threshold { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 4; }
.chart .curve { fill: none; stroke: var(--curve); stroke-width: 2.5; stroke-linejoin: round; }
.chart .marker { fill: var(--ground); stroke: var(--curve); stroke-width: 2; }
.chart .second { stroke: var(--second); }
.chart .third { stroke: var(--third); }
.chart .dot { fill: var(--curve); }
.chart .missed { fill: url(#likewise_dots); }
.chart .dots { fill: var(--missed); }
.chart .needless { fill: url(#likewise_lines); }
.chart .lines { stroke: var(--needless); stroke-width: 1.5; }
"""

#: Fonts of the reader's own system: a serif one for what is read first, one of fixed width for what is typed.
SERIF = 'Charter, "Bitstream Charter", "Iowan Old Style", "Sitka Text", Cambria, Georgia, serif'
MONO = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace'


def variables(scheme: int) -> str:
    """The colors of a light (0) or dark (1) page as CSS variables."""
    return " ".join(f"--{name}: {colors[scheme]};" for name, colors in COLORS.items())


def written_out(scheme: int) -> str:
    """The rules of charts with colors in place of variables, for programs that draw SVG but are not browsers."""
    return re.sub(r"var\(--([\w-]+)\)", lambda match: COLORS[match[1]][scheme], CHART)


#: The style sheet of a chart in its own file.
ALONE = f"{written_out(0)}@media (prefers-color-scheme: dark) {{{written_out(1)}}}\n"

#: Bars, stacked bars and their legends, which are HTML, so that their words keep their size on a narrow screen.
BARS = """
.bars { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: .3rem .7rem; align-items: center; max-width: 44rem;
  margin: .8rem 0; font-size: .875rem; font-variant-numeric: tabular-nums; }
.bars .name { text-align: right; color: var(--faint); overflow-wrap: anywhere; }
.bars .value { display: flex; align-items: center; gap: .45rem; min-width: 0; }
.bars .bar { flex: none; height: .95rem; }
.bars .number { font-weight: 600; text-align: left; }
.stacked { display: flex; gap: 1px; height: 1.6rem; margin: .8rem 0 .5rem; }
.stacked > span { min-width: 3px; }
.legend { list-style: none; margin: .4rem 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; font-size: .875rem;
  font-variant-numeric: tabular-nums; }
.swatch { display: inline-block; width: .8em; height: .8em; vertical-align: -.05em; }
.kept { background: var(--kept); } .exact { background: var(--exact); } .equal { background: var(--equal); }
.near { background: var(--near); } .rejected { background: var(--rejected); } .nothing { border: 1px solid var(--rule); flex: 1; }
.kept, .exact, .equal, .near, .rejected, .bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; forced-color-adjust: none; }
.bar { background: var(--bar); }
"""

#: The style sheet of every page: letters, links, tables, boxes; light and dark, wide and narrow, screen and paper.
BASE = (
    f":root {{ color-scheme: light dark; {variables(0)} --bar: var(--near); --serif: {SERIF}; --mono: {MONO}; }}\n"
    f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {variables(1)} }} }}\n{CHART}{BARS}"
    """\
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.6rem 1.25rem 4rem; }
h1, h2 { font-family: var(--serif); font-weight: 700; text-wrap: balance; overflow-wrap: anywhere; }
h1 { font-size: clamp(1.6rem, 1.1rem + 2vw, 2.5rem); line-height: 1.15; letter-spacing: -.01em; margin: .3rem 0 .5rem; }
h2 { font-size: 1.45rem; line-height: 1.2; margin: 3rem 0 .6rem; padding-top: .7rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1rem; margin: 1.8rem 0 .4rem; }
h4 { font-size: .9rem; margin: 0; overflow-wrap: anywhere; }
p { max-width: 42rem; margin: .6rem 0; text-wrap: pretty; }
a { color: inherit; text-decoration-color: var(--accent); text-underline-offset: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, .digits { font-family: var(--mono); font-size: .9em; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .1rem 0; }
input { accent-color: var(--accent); }
footer { margin-top: 3.5rem; padding-top: .7rem; border-top: 1px solid var(--rule); font-size: .875rem; }
.faint { color: var(--faint); }
.banner { margin: 1.2rem 0; padding: .7rem 1rem; background: var(--warn); border-left: 4px solid var(--warn-rule); max-width: none;
  overflow-wrap: anywhere; }
.banner h2 { margin: 0; padding: 0; border: 0; font-size: 1.1rem; }
.banner ul { margin: .3rem 0; padding-left: 1.1rem; max-width: 60rem; }
.wide { overflow-x: auto; background: linear-gradient(90deg, var(--ground) 40%, transparent) 0 0 / 2.5rem 100% no-repeat local,
  linear-gradient(270deg, var(--ground) 40%, transparent) 100% 0 / 2.5rem 100% no-repeat local,
  linear-gradient(90deg, #0003, transparent) 0 0 / .8rem 100% no-repeat, linear-gradient(270deg, #0003, transparent) 100% 0 / .8rem 100% no-repeat; }
table { border-collapse: collapse; margin: .8rem 0; font-size: .9rem; font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .35rem; }
@media (min-width: 44rem) { caption { white-space: nowrap; } }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; }
thead th { color: var(--faint); font-weight: 500; overflow-wrap: normal; vertical-align: bottom; }
tbody th { font-weight: 400; min-width: 8rem; }
tfoot th, tfoot td { font-weight: 600; border-bottom: 0; }
td { min-width: 5.5rem; }
th.number, td.number { text-align: right; white-space: nowrap; min-width: 0; }
tr > :last-child { padding-right: 0; }
sup { line-height: 0; }
.chart { display: block; width: 100%; height: auto; margin: .8rem 0; }
.narrow .missed { fill: url(#likewise_dots_narrow); } .narrow .needless { fill: url(#likewise_lines_narrow); }
@media not screen, (min-width: 36.01rem) { .chart.narrow { display: none; } }
@media screen and (max-width: 36rem) { .chart:has(+ .narrow) { display: none; } }
.cards { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); gap: 0 1rem; margin: 1.2rem 0;
  font-variant-numeric: tabular-nums lining-nums; }
.cards > div { border-top: 1px solid var(--rule); padding: .6rem 0 .8rem; min-width: 0; }
.cards dt { font-size: .8rem; color: var(--faint); }
.cards dd { margin: 0; font-size: .8rem; line-height: 1.4; overflow-wrap: anywhere; }
.cards .figure { font: 700 1.7rem/1.25 var(--serif); font-variant-numeric: tabular-nums lining-nums; }
.cards .urgent { border-top-color: var(--accent); } .cards .urgent .figure { color: var(--accent); }
.abreast { display: flex; flex-wrap: wrap; gap: 0 4rem; align-items: flex-start; } .abreast > * { max-width: 100%; min-width: 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; align-items: start; }
.pair > * { background: var(--card); border: 1px solid var(--rule); padding: .7rem .9rem; min-width: 0; }
.pair p { margin: .2rem 0; font-size: .875rem; overflow-wrap: anywhere; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.cut { color: var(--faint); font-style: italic; }
button { font: inherit; font-size: .8rem; color: inherit; background: var(--ground); border: 1px solid var(--faint); border-radius: 3px;
  padding: .15rem .6rem; cursor: pointer; }
[hidden] { display: none !important; }
@media screen and (max-width: 36rem) { .several thead { display: none; } .several :is(tr, th, caption, tbody, tfoot) { display: block; }
  .several, .several tbody { width: 100%; } .several tr { border-bottom: 1px solid var(--rule); padding: .4rem 0; }
  .several :is(th, td) { border: 0; padding: .05rem 0; } .several td { display: inline-block; margin-right: .9rem; white-space: normal; }
  .several td::before { content: attr(data-name) " "; color: var(--faint); font-weight: 400; } }
@media (max-width: 60rem) { .cards:has(> :nth-child(6)) { grid-auto-flow: row; grid-template-columns: repeat(3, minmax(0, 1fr)); } }
@media (max-width: 44rem) { .cards, .cards:has(> :nth-child(6)) { grid-auto-flow: row; grid-template-columns: 1fr 1fr; }
  .cards > div:last-child:nth-child(odd) { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; }
  .pair { grid-template-columns: 1fr; } }
@media print { :root { color-scheme: light; } body { font-size: 10.5pt; color: #000; background: #fff; } main { max-width: none; padding: 0; }
  h2, h3, summary { break-after: avoid; } details::details-content { content-visibility: visible; block-size: auto; }
  svg, tr, .cards > div, .pair > * { break-inside: avoid; } button, nav { display: none; } .wide { overflow: visible; background: none; } }
"""
)


def doubled(rules: str) -> str:
    """Rules for the inside of a result in a notebook, which names its class twice, since Jupyter's own rules for tables would win otherwise.

    >>> doubled(".a .b, .c { x: y; }")
    '.likewise.likewise .a .b, .likewise.likewise .c { x: y; }'
    """
    return re.sub(r"([^{},][^{}]*)(\{[^{}]*\})", lambda found: f"{inside(found[1])} {found[2]}", rules)


def inside(selectors: str) -> str:
    """Selectors, each below the class of a result."""
    return ", ".join(f".likewise.likewise {one.strip()}" for one in selectors.split(","))


#: The style sheet of a result in a notebook. Its colors work on light and on dark pages, whose text color they take over (`doubled`).
NOTEBOOK = f"""
.likewise.likewise {{ --ink: currentColor; --faint: currentColor; --ground: transparent; --rule: #8886; --bar: var(--near); overflow-x: auto;
  {" ".join(f"--{name}: {COLORS[name][0]};" for name in ("kept", "exact", "equal", "near", "rejected", "warn-rule"))} }}
.likewise.likewise table {{ border-collapse: collapse; table-layout: auto; margin: .4em 0; font-variant-numeric: tabular-nums; }}
.likewise.likewise th, .likewise.likewise td {{ text-align: left; vertical-align: top; padding: .2em .8em; border-bottom: 1px solid var(--rule);
  max-width: 32em; overflow-wrap: break-word; white-space: pre-wrap; }}
.likewise.likewise th.number, .likewise.likewise td.number {{ text-align: right; white-space: nowrap; }}
.likewise.likewise th:first-child, .likewise.likewise td:first-child {{ padding-left: 0; }}
.likewise.likewise td.short {{ white-space: nowrap; }}
.likewise.likewise td.long {{ min-width: 16em; }}
.likewise.likewise caption {{ text-align: left; caption-side: top; padding: .4em 0; color: inherit; }}
.likewise.likewise p, .likewise.likewise ul {{ margin: .4em 0; }}
.likewise.likewise .banner {{ border-left: 5px solid var(--warn-rule); padding: .2em .8em; margin: .4em 0; overflow-wrap: anywhere; }}
.likewise.likewise .chart {{ display: block; width: 100%; height: auto; margin: .4em 0; }}
.likewise.likewise .chart text {{ font: 13px system-ui, sans-serif; fill: currentColor; }}
.likewise.likewise .chart .strong {{ font-weight: 600; }}
{doubled(BARS)}"""
