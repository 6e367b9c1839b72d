"""The search of docs/applications/scenes.md among many images: python benchmarks/scenes.py FOLDER (from fetch_images.sh), in the root folder.

Runs the code of the page up to the search. Then adds the right halves of all images below FOLDER of at least 144 x 96 pixels, photographs or not, to
the collection, and prints how often the right scene is the nearest, among five and among ten, and the seconds of the search.
"""

import contextlib
import re
import sys
import time
from pathlib import Path

import cv2
import numpy as np

import likewise as lw

PAGE = Path("docs/applications/scenes.md")
DESCRIPTIONS = ("tiny", "layout", "gradients")
WIDTH, HEIGHT = 144, 96


def right_half(path: Path) -> np.ndarray | None:
    """The right half of the middle of an image, 96 x 72 pixels, or None."""
    image = cv2.imread(str(path))
    if image is None or image.shape[0] < HEIGHT or image.shape[1] < WIDTH:
        return None
    high, wide = image.shape[:2]
    scale = min(high / HEIGHT, wide / WIDTH)
    height, width = int(HEIGHT * scale), int(WIDTH * scale)
    top, left = (high - height) // 2, (wide - width) // 2
    return cv2.resize(image[top : top + height, left : left + width], (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)[:, WIDTH // 2 :]


def main(folder: Path) -> None:
    page: dict = {}
    with contextlib.redirect_stdout(None):
        exec("\n".join(re.findall(r"(?s)```python\n(.*?)```", PAGE.read_text().partition("## Completion")[0])), page)
    own = re.compile("lomiri-wallpapers-16.04")  # the photographs of the page
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".png") and not own.search(str(path)))
    halves = [half for half in map(right_half, paths) if half is not None]
    for count in (0, 1000, len(halves)):
        chosen = np.random.default_rng(1).permutation(len(halves))[:count]
        for name in DESCRIPTIONS:
            base = np.concatenate([page[name](page["others"]), *(page[name](halves[i][None]) for i in chosen)]).astype(np.float32)
            queries = page[name](page["queries"]).astype(np.float32)
            began = time.perf_counter()
            found = np.array(lw.neighbors(base, query=queries, by="l2", k=10, exact=True)["id_b"]).reshape(32, 10)
            seconds = time.perf_counter() - began
            right = found == np.arange(32)[:, None]
            print(f"{len(base):6} images {name:9}", *(f"{right[:, :k].any(1).mean():.0%}" for k in (1, 5, 10)), f"{seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
