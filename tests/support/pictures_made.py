"""Images that tests make: smooth colored textures, and files of them."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw


def texture(seed: int, width: int = 320, height: int = 240) -> Image.Image:
    """A random image without sharp edges."""
    small = np.random.default_rng(seed).integers(0, 256, (9, 12, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def scene(seed: int, width: int = 320, height: int = 240) -> Image.Image:
    """A random image of 80 colored shapes with edges and corners, so that it has local features."""
    draw, image = np.random.default_rng(seed), texture(seed, width, height)
    pen = ImageDraw.Draw(image)
    for _ in range(80):
        x, y = draw.uniform(0, width), draw.uniform(0, height)
        corners = [(x + dx, y + dy) for dx, dy in draw.uniform(-0.12 * width, 0.12 * width, (4, 2))]
        pen.polygon(corners, fill=tuple(draw.integers(0, 256, 3).tolist()))
    return image


def encoded(image: Image.Image, format: str, **how: Any) -> bytes:
    """The bytes of an image file; PNG, for example, is without loss."""
    file = BytesIO()
    image.save(file, format, **how)
    return file.getvalue()


def gray(image: Image.Image) -> NDArray[np.uint8]:
    return np.asarray(image.convert("L"))


def photos(folder: Path, number: int = 6) -> Path:
    """A folder of images that are all different: 0.jpg, 1.jpg, and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in range(number):
        texture(seed).save(folder / f"{seed}.jpg", quality=90)
    return folder
