"""Build the site: ``tools/build_site [FOLDER]`` writes FOLDER/html, by default site/html, and ends with an error after any warning."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sources import ROOT, sources
from sphinx.application import Sphinx

import likewise

HERE = Path(__file__).resolve().parent
SETTINGS = {
    "project": "likewise",
    "version": likewise.__version__,
    "release": likewise.__version__,
    "extensions": ["myst_parser", "sphinx.ext.autodoc", "docstrings"],
    "root_doc": "index",
    "html_theme": "pydata_sphinx_theme",
    "html_title": "likewise",
    "html_static_path": [str(HERE / "static")],
    "html_css_files": ["site.css"],
    "html_show_sourcelink": False,
    "html_copy_source": False,
    "html_permalinks_icon": "#",
    "html_context": {"default_mode": "auto"},
    "html_theme_options": {
        "navbar_end": ["theme-switcher"],
        "navbar_align": "left",
        "header_links_before_dropdown": 8,
        "show_toc_level": 2,
        "footer_start": [],
        "footer_end": [],
        "secondary_sidebar_items": ["page-toc"],
        "pygments_light_style": "a11y-high-contrast-light",
        "pygments_dark_style": "a11y-high-contrast-dark",
    },
    "html_sidebars": {"index": []},
    "highlight_language": "none",
    "default_role": "py:obj",
    "add_module_names": False,
    "autodoc_member_order": "bysource",
    "autodoc_typehints": "none",
    "toc_object_entries_show_parents": "hide",
    "myst_heading_anchors": 6,
}


def build(folder: Path) -> None:
    """Write the sources and the site. Warnings are printed as they come; the exit status is 1 after one.

    Sphinx checks the links inside the site. Those that lead elsewhere are listed in a file, with their pages.
    """
    made = sources()
    made.write(folder / "sources")
    outward = sorted({(link, at) for at, text in made.pages.items() for link in re.findall(r"\]\((https?://[^)\s]+)\)", text)})
    (folder / "external-links.txt").write_text("".join(f"{link}  {at}\n" for link, at in outward))
    app = Sphinx(
        folder / "sources", None, folder / "html", folder / "doctrees", "html", SETTINGS, status=None, warningiserror=True, parallel=2
    )  # all settings are here, so there is no conf.py
    app.build()
    print(f"{len(made.pages)} pages in {folder / 'html/index.html'}")
    sys.exit(app.statuscode)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "site")
