"""Make photographs.jpg, 4 rows of 8 photographs of 144 x 96 pixels: python make_photographs.py BUDGIE LOMIRI POP (needs OpenCV).

BUDGIE is backgrounds/ of the repository BuddiesOfBudgie/budgie-backgrounds, LOMIRI usr/share/backgrounds/ of Debian's package
lomiri-wallpapers-16.04, POP original/ of the repository pop-os/wallpapers.
"""

import sys
from pathlib import Path

import cv2
import numpy as np

NAMES = (
    (  # CC0
        "beacon-street-sunset blue-periwinkle canyon-wren casa-mila extreme-desert-hike high-trestle-trail lake-sherburne oakland-zoo-otters "
        "perched-osprey piazza-gae-aulenti roman-colosseum singaporean-cityscape tea-gardens the-spices-of-life"
    ),
    (  # CC BY 4.0, by the authors in the names; the one by Engelhardt is CC0
        "aitzgorri_by_Aitzol_Berasategi friends_by_Aitzol_Berasategi life_by_Aitzol_Berasategi picosdeeuropa_by_Aitzol_Berasategi "
        "sunset_by_Aitzol_Berasategi Picture_0B_by_freespace Picture_1A_by_freespace Wine_by_Jakkub_Mede seeding_by_Clements_Engelhardt"
    ),
    (  # public domain
        "ahmadreza-sajadi-10140-edit galen-crout-175291 jad-limcaco-183877 jared-evans-119758 kait-herzog-8242 nasa-45068 "
        "nasa-53884 nasa-89127 ng-32703"
    ),
)
WIDTH, HEIGHT, COLUMNS = 144, 96, 8


def tile(path: Path) -> np.ndarray:
    """The middle of a photograph with the sides 3 : 2, made small."""
    image = cv2.imread(str(path))
    high, wide = image.shape[:2]
    scale = min(high / HEIGHT, wide / WIDTH)
    height, width = int(HEIGHT * scale), int(WIDTH * scale)
    top, left = (high - height) // 2, (wide - width) // 2
    return cv2.resize(image[top : top + height, left : left + width], (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)


if __name__ == "__main__":
    tiles = [tile(Path(folder) / f"{name}.jpg") for folder, names in zip(sys.argv[1:], NAMES, strict=True) for name in names.split()]
    rows = [np.hstack(tiles[i : i + COLUMNS]) for i in range(0, len(tiles), COLUMNS)]
    cv2.imwrite(str(Path(__file__).parent / "photographs.jpg"), np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, 85])
