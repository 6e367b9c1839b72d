"""Run notebooks and store what their cells show: ``python tools/run_notebooks.py docs/gallery/*.ipynb``.

A cell shows what it prints, and the value of its last expression as text and as HTML. A notebook runs in its own folder. tests/docs/test_gallery.py
runs all notebooks of the gallery and compares the texts.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

#: The width of a terminal, which tables shown as text depend on.
COLUMNS = "110"


def shown(value: object) -> dict[str, list[str]]:
    """The forms of a value that a notebook shows, by type."""
    forms = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        forms["text/html"] = value._repr_html_()
    return {kind: text.splitlines(keepends=True) for kind, text in forms.items()}


def outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run the code of a cell with these names, and return its outputs."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {count}", "exec"), names)
        value = eval(compile(last, f"cell {count}", "eval"), names) if last else None
    made: list[dict[str, Any]] = []
    if text := printed.getvalue():
        made.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        made.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": shown(value)})
    return made


def run(notebook: dict[str, Any], folder: Path) -> None:
    """Run a notebook in a folder, in this process, and replace its outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    before, width = Path.cwd(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = COLUMNS
    os.chdir(folder)
    try:
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        for count, cell in enumerate(cells, 1):
            cell["execution_count"] = count
            cell["outputs"] = outputs("".join(cell["source"]), names, count)
    finally:
        os.chdir(before)
        os.environ.pop("COLUMNS")
        if width is not None:
            os.environ["COLUMNS"] = width


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        notebook = json.loads(path.read_text())
        run(notebook, path.parent)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
