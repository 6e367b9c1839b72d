"""The metadata of a package that is published: the address of the project, and a README whose links lead there.

A registry shows the README apart from the files that it links to. The variable PROJECT_URL in the environment of a build is the address of the
repository, without a slash at its end; links then lead to the files of the tag of this version. Without it, the README is left as it is, and the
package names no address.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "PROJECT_URL"
#: A link or an image in Markdown whose target is a path in the project: what stands before it, the path, and a place in it.
LINK = re.compile(r"(!?\[[^\]]*\]\()(?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")


class MetadataHook(MetadataHookInterface):
    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        url = os.environ.get(VARIABLE, "").rstrip("/")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        tag = f"v{version_in(Path(self.root))}"
        metadata["readme"] = {"content-type": "text/markdown", "text": linked(text, url, tag) if url else text}
        metadata["urls"] = urls(url, tag) if url else {}


def version_in(root: Path) -> str:
    """The version that the package states."""
    found = re.search(r'^__version__ = "([^"]+)"', (root / "src/likewise/__init__.py").read_text(encoding="utf-8"), re.M)
    assert found
    return found[1]


def linked(text: str, url: str, tag: str) -> str:
    """The text with addresses in place of paths: pages of the files, and for images the files themselves."""
    return LINK.sub(lambda link: f"{link[1]}{url}/{'raw' if link[1][0] == '!' else 'blob'}/{tag}/{link[2]}{link[3] or ''})", text)


def urls(url: str, tag: str) -> dict[str, str]:
    """The addresses that a registry shows beside the package."""
    pages = {"Documentation": "docs/README.md", "Changelog": "CHANGELOG.md"}
    return {"Source": url, **{name: f"{url}/blob/{tag}/{path}" for name, path in pages.items()}, "Issues": f"{url}/issues"}
