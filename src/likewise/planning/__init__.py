"""Bands and rows: what a layout finds and costs, and the choice of one for a threshold and a recall target.

plan.py is what comes out and choose.py how; model.py predicts cost from density.py, how alike the pairs of a collection are, and
expected.py chooses which; families.py says which families there are for a measure; presets.py knows the layouts that others
publish, layouts.py reads what was typed.
"""

from likewise.planning.choose import choose
from likewise.planning.density import Density
from likewise.planning.families import Facts
from likewise.planning.model import chance
from likewise.planning.plan import Plan
from likewise.planning.threshold import parse_threshold

__all__ = ["Density", "Facts", "Plan", "chance", "choose", "parse_threshold"]
