"""Bands and rows: the recall and cost of a layout, and the choice of one for a threshold and a target recall.

plan.py is the result and choose.py the choice; model.py predicts cost from density.py, the distribution of similarities in a collection,
which expected.py selects; families.py lists the hash families of each measure; presets.py has the layouts that other projects
publish; layouts.py makes plans from the options that were given.
"""

from likewise.planning.choose import choose
from likewise.planning.density import Density
from likewise.planning.families import Facts
from likewise.planning.model import probability
from likewise.planning.plan import Plan
from likewise.planning.threshold import parse_threshold

__all__ = ["Density", "Facts", "Plan", "choose", "parse_threshold", "probability"]
