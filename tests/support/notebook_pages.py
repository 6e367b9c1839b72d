"""Results as a page of JupyterLab has them."""

from __future__ import annotations

#: A page with the rules of JupyterLab that reach the tables of outputs.
JUPYTER = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Notebook</title><style>
body {{ font: 14px sans-serif; background: {ground}; color: {ink}; }}
.jp-RenderedHTMLCommon table {{ margin-left: auto; margin-right: auto; border: none; font-size: 12px; table-layout: fixed; }}
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th {{ text-align: right; padding: .5em; white-space: normal; max-width: none; }}
</style><main class="jp-RenderedHTMLCommon"><h1>Notebook</h1>{output}</main></html>"""
#: The colors of its ground and of its letters.
PAGES = {"light": ("#fff", "#111"), "dark": ("#111", "#eee")}


def page(output: str, scheme: str = "light") -> str:
    """A page with the HTML of a result."""
    ground, ink = PAGES[scheme]
    return JUPYTER.format(ground=ground, ink=ink, output=output)
