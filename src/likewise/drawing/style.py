"""Colors, light and dark, and the style rules of charts, for the report's page and for charts in files of their own."""

from __future__ import annotations

import re

#: Colors by name, on a light and on a dark page. Areas and lines also differ by pattern or dashes, so that no information is in color alone.
COLORS = {
    "ink": ("#1c2024", "#e4e7ea"),
    "faint": ("#5b636b", "#a0a8b0"),
    "ground": ("#fff", "#16191c"),
    "card": ("#f5f6f8", "#1f2428"),
    "rule": ("#d5d9de", "#3a4148"),
    "kept": ("#2f6fab", "#5b9bd8"),
    "exact": ("#c4570a", "#e07b3a"),
    "equal": ("#dd8427", "#e89a52"),
    "near": ("#eda53a", "#f0bd6a"),
    "rejected": ("#7b838b", "#8d959d"),
    "missed": ("#c4570a", "#e07b3a"),
    "needless": ("#2f6fab", "#5b9bd8"),
    "curve": ("#1c2024", "#e4e7ea"),
    "second": ("#7b3fa8", "#bd93e0"),
    "third": ("#1d7a4c", "#5cc08d"),
    "del": ("#fbe0d3", "#5a2d18"),
    "ins": ("#d9e9f8", "#1d4163"),
    "warn": ("#fff4d6", "#3a2f10"),
    "warn-rule": ("#d79a00", "#d79a00"),
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


def variables(scheme: int) -> str:
    """The colors of a light (0) or dark (1) page as CSS variables."""
    return " ".join(f"--{name}: {colors[scheme]};" for name, colors in COLORS.items())


def written_out(scheme: int) -> str:
    """The rules of charts with colors in place of variables, for programs that draw SVG but are not browsers."""
    return re.sub(r"var\(--([\w-]+)\)", lambda match: COLORS[match[1]][scheme], CHART)


#: The style sheet of a chart in its own file.
ALONE = f"{written_out(0)}@media (prefers-color-scheme: dark) {{{written_out(1)}}}\n"

#: The style sheet of a result in a notebook. Its colors work on light and on dark pages, whose text color they take over. Every rule names its class
#: twice, since Jupyter's own rules for tables would win otherwise.
NOTEBOOK = f"""
.likewise.likewise {{ --ink: currentColor; --faint: currentColor; --ground: transparent; --rule: #8886; overflow-x: auto;
  {" ".join(f"--{name}: {COLORS[name][0]};" for name in ("kept", "exact", "equal", "near", "rejected", "warn-rule"))} }}
.likewise.likewise table {{ border-collapse: collapse; table-layout: auto; margin: .4em 0; font-variant-numeric: tabular-nums; }}
.likewise.likewise th, .likewise.likewise td {{ text-align: left; vertical-align: top; padding: .2em .8em; border-bottom: 1px solid var(--rule);
  max-width: 32em; overflow-wrap: break-word; white-space: pre-wrap; }}
.likewise.likewise th.number, .likewise.likewise td.number {{ text-align: right; white-space: nowrap; }}
.likewise.likewise td.long {{ min-width: 16em; }}
.likewise.likewise p, .likewise.likewise ul {{ margin: .4em 0; }}
.likewise.likewise ul.legend {{ list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2em 1.6em; }}
.likewise.likewise .banner {{ border-left: 5px solid var(--warn-rule); padding: .2em .8em; margin: .4em 0; overflow-wrap: anywhere; }}
.likewise.likewise .swatch {{ width: .85em; height: .85em; vertical-align: -.05em; }}
.likewise.likewise .chart {{ display: block; width: 100%; height: auto; margin: .4em 0; }}
.likewise.likewise .chart text {{ font: 13px system-ui, sans-serif; fill: currentColor; }}
.likewise.likewise .chart .strong {{ font-weight: 600; }}
.likewise.likewise .nothing {{ fill: none; stroke: var(--rule); }} .likewise.likewise .bar {{ fill: var(--kept); }}
{" ".join(f".likewise.likewise .{name} {{ fill: var(--{name}); }}" for name in ("kept", "exact", "equal", "near", "rejected"))}
"""
