"""OpenCV, an optional dependency that decodes and describes images and videos. Only this module imports it."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from likewise.errors import missing_part


@cache
def library() -> Any:
    """Return the module, limited to one thread because likewise runs several. Raises MissingPartError if it is not installed."""
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # likewise reports damage, with the file's name
    try:
        import cv2
    except ImportError as error:
        raise missing_part("images and videos are read with", "OpenCV", "opencv-python-headless") from error
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    return cv2
