"""Regular expressions as deterministic automata: a kernel follows one with a table look-up per character, in time proportional to the text.

The syntax is the part of Python's that the masks need: characters, ``\\`` before a special one, classes such as [0-9a-f], groups, ``(?i:``,
``|``, and the repetitions ? * + {m} {m,} {m,n}. Thompson (1968) gives the nondeterministic automaton, the subset construction the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

PIECE = re.compile(r"\\.|\[(?:[^\\\]]|\\.)+\]|\(\?i:|\{\d+(?:,\d*)?\}|.", re.DOTALL)
DEAD, START = 0, 1


@dataclass
class Automaton:
    """State 0 is dead, state 1 the first. A character that is not in ``symbols`` leads to state 0."""

    symbols: dict[str, int]  # the class of each character, from 1
    moves: np.ndarray  # uint16[states, 1 + classes]: the next state
    accepts: np.ndarray  # bool[states]: what was read matches


@dataclass
class Graph:
    """A nondeterministic automaton: states with free transitions, and with transitions by a set of characters."""

    free: list[list[int]] = field(default_factory=list)
    read: list[tuple[frozenset[str], int] | None] = field(default_factory=list)

    def state(self) -> int:
        self.free.append([])
        self.read.append(None)
        return len(self.free) - 1


@dataclass
class Node:
    """A part of an expression: a set of characters, or parts one after the other, or alternatives; repeated ``least`` to ``most`` times."""

    chars: frozenset[str] = frozenset()
    alternatives: list[list[Node]] = field(default_factory=list)
    least: int = 1
    most: int | None = 1  # None: without limit

    def add_to(self, graph: Graph, begin: int) -> int:
        """Add this part to a graph behind a state, and return the state after it."""
        for _ in range(self.least):
            begin = self._once(graph, begin)
        if self.most is None:
            loop = graph.state()
            graph.free[begin].append(loop)
            graph.free[self._once(graph, loop)].append(loop)
            return loop
        skipped = [begin]
        for _ in range(self.most - self.least):
            begin = self._once(graph, begin)
            skipped.append(begin)
        for state in skipped[:-1]:
            graph.free[state].append(begin)
        return begin

    def _once(self, graph: Graph, begin: int) -> int:
        end = graph.state()
        if self.chars:
            source = graph.state()
            graph.free[begin].append(source)
            graph.read[source] = self.chars, end
        for parts in self.alternatives:
            at = begin
            for part in parts:
                at = part.add_to(graph, at)
            graph.free[at].append(end)
        return end


def parsed(pieces: Iterator[str], ignore_case: bool = False) -> Node:
    """The expression up to the end, or to the parenthesis that closes it."""
    node = Node(alternatives=[[]])
    for piece in pieces:
        parts = node.alternatives[-1]
        if piece == ")":
            break
        if piece == "|":
            node.alternatives.append([])
        elif piece.startswith("("):
            parts.append(parsed(pieces, ignore_case or piece == "(?i:"))
        elif piece in ("?", "*", "+") or piece.startswith("{"):
            parts[-1].least, parts[-1].most = bounds(piece)
        else:
            parts.append(Node(members(piece, ignore_case)))
    return node


def bounds(piece: str) -> tuple[int, int | None]:
    """The minimum and the maximum of a repetition."""
    if piece in ("?", "*", "+"):
        return int(piece == "+"), 1 if piece == "?" else None
    least, comma, most = piece[1:-1].partition(",")
    return int(least), int(most) if most else None if comma else int(least)


def members(piece: str, ignore_case: bool) -> frozenset[str]:
    """The characters that a character, an escaped one or a class stands for."""
    found = set()
    inside = re.findall(r"\\.|.", piece[1:-1] if len(piece) > 2 else piece)
    plain = [char[-1] for char in inside]
    for place, char in enumerate(inside):
        if char == "-" and 0 < place < len(inside) - 1:
            found |= set(map(chr, range(ord(plain[place - 1]), ord(plain[place + 1]) + 1)))
        else:
            found.add(plain[place])
    return frozenset(found | {other for char in found for other in (char.lower(), char.upper())} if ignore_case else found)


def automaton(pattern: str) -> Automaton:
    """The automaton of an expression."""
    graph = Graph()
    end = parsed(iter(PIECE.findall(pattern))).add_to(graph, graph.state())
    symbols, read = grouped(graph)
    closures = [closure(graph, state) for state in range(len(graph.free))]
    numbers = {0: DEAD, closures[0]: START}
    rows: list[dict[int, int]] = [{}]
    waiting = [closures[0]]
    for states in waiting:  # each a set of states, as the bits of an integer
        row: dict[int, int] = {}
        rest = states
        while rest:
            state = rest.bit_length() - 1
            rest ^= 1 << state
            classes, target = read[state]
            for symbol in classes:
                row[symbol] = row.get(symbol, 0) | closures[target]
        for symbol, reached in row.items():
            if reached not in numbers:
                numbers[reached] = len(numbers)
                waiting.append(reached)
            row[symbol] = numbers[reached]
        rows.append(row)
    moves = np.zeros((len(rows), max(symbols.values()) + 1), np.uint16)
    for state, row in enumerate(rows):
        moves[state, list(row)] = list(row.values())
    return Automaton(symbols, moves, np.array([bool(states >> end & 1) for states in numbers]))


def grouped(graph: Graph) -> tuple[dict[str, int], list[tuple[list[int], int]]]:
    """Characters that no transition distinguishes, as one class; and for each state the classes that it reads, and the state after them."""
    sets = list({reading[0] for reading in graph.read if reading})
    lines = {char: tuple(char in one for one in sets) for char in sorted(frozenset().union(*sets))}
    classes = {line: 1 + number for number, line in enumerate(dict.fromkeys(lines.values()))}
    symbols = {char: classes[line] for char, line in lines.items()}
    held = {one: sorted({symbols[char] for char in one}) for one in sets}
    return symbols, [(held[reading[0]], reading[1]) if reading else ([], 0) for reading in graph.read]


def closure(graph: Graph, state: int) -> int:
    """The states that are reached from a state without reading, as the bits of an integer: those that read, and the last."""
    seen, waiting = {state}, [state]
    for one in waiting:
        waiting += [other for other in graph.free[one] if other not in seen and not seen.add(other)]  # type: ignore[func-returns-value]
    return sum(1 << one for one in seen if graph.read[one] or not graph.free[one])
