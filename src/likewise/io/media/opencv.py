"""OpenCV, which decodes pictures and videos and describes them. It is an optional part, and imported here alone."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from likewise.errors import missing_part


@cache
def library() -> Any:
    """The module, on one thread of its own: ours are many. Raises MissingPartError where it is not installed."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # damage is told by us, with the file's name
    try:
        import cv2
    except ImportError as error:
        raise missing_part("pictures and videos are read by", "OpenCV", "opencv-python-headless") from error
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    return cv2
