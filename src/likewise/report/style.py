"""The style sheet of report.html, in addition to that of every page."""

from __future__ import annotations

from likewise.drawing.style import BASE

#: Style of a removed item beside the kept one; shared by all pages that show pairs.
PAIRS = """\
article { margin: 1.4rem 0 2rem; }
article > h3 { margin-top: 0; }
.pair .text { margin-top: .5rem; padding-top: .5rem; border-top: 1px solid var(--rule); }
.limited { max-height: 15rem; overflow-y: auto; }
.whole { display: inline-flex; gap: .4rem; align-items: center; min-height: 1.6rem; margin: .2rem 0 0; font-size: .8rem;
  color: var(--faint); cursor: pointer; }
article:has(.whole input:checked) .limited { max-height: none; }
.pair img { display: block; max-width: 100%; height: auto; margin: .5rem auto 0; border: 1px solid var(--rule); }
.members-of { margin: .5rem 0 0; font-size: .875rem; }
.members-of dt { color: var(--faint); font-size: .8rem; margin-top: .4rem; }
.members-of dd { margin: 0; overflow-wrap: anywhere; }
del { background: var(--del); text-decoration: line-through; text-decoration-thickness: 1px; text-decoration-color: var(--accent); }
ins { background: var(--ins); text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 2px; }
del, ins { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
@media print { .limited { max-height: none; overflow: visible; } .whole, .slider { display: none; } .pair:has(.limited) > * { break-inside: auto; } }
"""

STYLE = f"{BASE}{PAIRS}"
STYLE += """\
.kicker { font-size: .8rem; color: var(--faint); margin: 0; }
h1 span { display: inline-block; }
.deck { max-width: 60rem; text-wrap: balance; font: 1.15rem/1.45 var(--serif); color: var(--faint); margin: 0 0 .8rem; }
.command { font-size: .875rem; max-width: none; }
.command code { background: var(--card); padding: .15rem .4rem; }
.group { font-family: var(--serif); font-style: italic; color: var(--accent); font-size: 1.1rem; margin: 1.8rem 0 .4rem; }
article.apart > h3::after { content: " \\2014 not similar enough for the threshold tried above"; color: var(--accent); font-weight: 400; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 3rem; align-items: start; }
@media (max-width: 60rem) { .beside { grid-template-columns: minmax(0, 1fr); } }
.histogram { margin: 1rem 0; padding: 0; }
.plot { position: relative; padding-top: 4rem; border-bottom: 1px solid var(--ink); }
.columns { display: flex; align-items: flex-end; height: 11rem; }
.columns > span { flex: 1; min-width: 0; min-height: 1px; box-shadow: inset -1px 0 var(--ground);
  background: linear-gradient(var(--way, 90deg), var(--kept) var(--apart, 0%), var(--bar) 0); }
[data-falling] .columns > span { --way: 270deg; }
.columns > span.none { min-height: 0; }
.columns > span { print-color-adjust: exact; -webkit-print-color-adjust: exact; forced-color-adjust: none; }
.top, .line > span, .tick { position: absolute; transform: translateX(-50%); white-space: nowrap; font-size: .8rem;
  font-variant-numeric: tabular-nums; }
.top { top: 2.45rem; font-weight: 600; background: var(--ground); padding: .25rem .2rem 0; z-index: 1; }
.line { position: absolute; top: 0; bottom: 0; border-left: 1px dashed var(--ink); }
.line > span { top: 0; background: var(--ground); padding: 0 .3rem; } .lower { top: 1.3rem; }
.top.left, .tick.left, .line.left > span { transform: none; }
.top.right, .tick.right, .line.right > span { transform: translateX(-100%); }
.axis { position: relative; height: 1.5rem; margin-top: .2rem; color: var(--faint); }
.slider input { display: block; max-width: none; height: 1.6rem; margin-top: 0; margin-bottom: 0; accent-color: var(--accent); }
.slider p { min-height: 3em; margin: .2rem 0 0; } .slider output { font-weight: 600; font-variant-numeric: tabular-nums; }
.slider input:not([aria-valuetext]) + p output { font-weight: 400; color: var(--faint); }
@media (max-width: 36rem) { .slider p { min-height: 6em; } }
.cluster { border-top: 1px solid var(--rule); padding-top: .8rem; margin: 1.2rem 0; max-width: 48rem; }
.cluster p { margin: .2rem 0; font-size: .9rem; overflow-wrap: anywhere; }
.cluster .size { font-size: 1rem; }
.reason { color: var(--accent); }
blockquote { margin: .3rem 0; font: 1.02rem/1.45 var(--serif); overflow-wrap: anywhere; }
.members { list-style: none; padding: 0; margin: .4rem 0; font-size: .875rem; }
.members li { padding: .35rem 0; border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
.cluster img { display: block; margin: .3rem 0; border: 1px solid var(--rule); } :is(.members, th) img { float: left; margin: 0 .8rem 0 0; }
.members li { display: flow-root; }
.shared { font: 1rem/1.45 var(--serif); overflow-wrap: anywhere; }
.snippet { display: block; color: var(--faint); overflow-wrap: anywhere; }
.snippet :is(del, ins) { color: var(--ink); } .snippet del + ins { margin-left: .25em; }
.matrix td { min-width: 3.2rem; padding: .3rem .5rem; border: 1px solid var(--ground);
  background: color-mix(in srgb, var(--near) var(--shade, 0%), var(--card)); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.matrix thead th { max-width: 9rem; padding-right: .5rem; }
"""
