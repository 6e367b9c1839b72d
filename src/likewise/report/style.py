"""The style sheet of report.html: light and dark, wide and narrow, screen and paper."""

from __future__ import annotations

from likewise.drawing.style import CHART, variables

STYLE = f"""
:root {{ color-scheme: light dark; {variables(0)} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {variables(1)} }} }}
{CHART}"""
STYLE += """\
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; padding-top: .8rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1.02rem; margin: 1.6rem 0 .5rem; }
h4 { font-size: .95rem; margin: 0; overflow-wrap: anywhere; }
p { max-width: 46rem; margin: .6rem 0; }
code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere; }
summary { cursor: pointer; }
footer { margin-top: 3rem; font-size: .875rem; }
.faint { color: var(--faint); }
.banner { margin: 1.2rem 0; padding: .7rem 1rem; background: var(--warn); border-left: 5px solid var(--warn-rule);
  max-width: none; overflow-wrap: anywhere; }
.banner h2 { margin: 0; padding: 0; border: 0; }
.banner ul { margin: .4rem 0; padding-left: 1.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .94rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule);
  min-width: 7.5rem; overflow-wrap: anywhere; }
thead th { color: var(--faint); font-weight: 500; overflow-wrap: normal; }
tbody th { font-weight: 400; }
tfoot th, tfoot td { font-weight: 600; border-bottom: 0; }
th.number, td.number { text-align: right; white-space: nowrap; min-width: 0; }
.chart { display: block; width: 100%; height: auto; margin: .8rem 0; }
.legend { list-style: none; margin: .4rem 0 1rem; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.6rem; }
.swatch { width: .85em; height: .85em; vertical-align: -.05em; }
.kept { fill: var(--kept); } .exact { fill: var(--exact); }
.equal { fill: var(--equal); } .near { fill: var(--near); } .rejected { fill: var(--rejected); }
.nothing { fill: none; stroke: var(--rule); } .bar { fill: var(--kept); }
article { margin: 1.4rem 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.pair section { background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: .8rem 1rem; min-width: 0; }
.pair p { margin: .2rem 0; font-size: .875rem; overflow-wrap: anywhere; }
.pair .digits { font-family: ui-monospace, monospace; }
.pair .text { margin-top: .6rem; white-space: pre-wrap; }
del { background: var(--del); text-decoration: line-through; text-decoration-thickness: 2px; }
ins { background: var(--ins); text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 2px; }
.cut { color: var(--faint); font-style: italic; }
@media (max-width: 44rem) { .pair { grid-template-columns: 1fr; } h1 { font-size: 1.5rem; } }
@media print { body { font-size: 11pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; } main { max-width: none; padding: 0; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; } svg, tr, .pair section { break-inside: avoid; } }
"""
