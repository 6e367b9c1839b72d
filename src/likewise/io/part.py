"""A part of a work folder: columns and steps of its own, for a pass over the inputs before the one that the run keeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from likewise.io.work import Work


class Part:
    """The columns and steps of a `Work` whose names begin with ``name-``. It has the methods of `Work` that reading needs."""

    def __init__(self, work: Work, name: str):
        self.work, self.prefix = work, f"{name}-"

    @property
    def folder(self) -> Path:
        return self.work.folder

    @property
    def lengths(self) -> dict[str, int]:
        """The bytes of each column."""
        return {name.removeprefix(self.prefix): size for name, size in self.work.lengths.items() if name.startswith(self.prefix)}

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The finished steps."""
        mine = [entry for entry in self.work.steps if str(entry.get("step")).startswith(self.prefix)]
        return [{**entry, "step": entry["step"].removeprefix(self.prefix)} for entry in mine]

    def done(self, step: str) -> list[dict[str, Any]]:
        return self.work.done(self.prefix + step)

    def append(self, columns: Mapping[str, Any], *, step: str, **more: Any) -> None:
        self.work.append({self.prefix + name: values for name, values in columns.items()}, step=self.prefix + step, **more)

    def column(self, name: str, dtype: Any) -> np.ndarray:
        return self.work.column(self.prefix + name, dtype)

    def settle(self) -> None:
        self.work.settle()

    def rest(self, *names: str) -> None:
        self.work.rest(*(self.prefix + name for name in names))

    def discard(self) -> None:
        """Delete the columns."""
        if names := [self.prefix + name for name in self.lengths if (self.folder / f"{self.prefix}{name}.col").exists()]:
            self.work.discard(*names)


class Parts:
    """The rows of two parts as one, what `Collection` reads: those of the second, and its sources, follow those of the first."""

    def __init__(self, work: Work, names: tuple[str, str], sources: int):
        """sources: the number of sources of the first part."""
        self.parts, self.sources = [Part(work, name) for name in names], sources

    def done(self, step: str) -> list[dict[str, Any]]:
        first, second = (part.done(step) for part in self.parts)
        return [*first, *({**entry, "source": entry["source"] + self.sources} for entry in second)]

    def rest(self, *names: str) -> None:
        for part in self.parts:
            part.rest(*names)

    def column(self, name: str, dtype: Any) -> np.ndarray:
        return np.concatenate([part.column(name, dtype) for part in self.parts])
