"""``python -m likewise`` is the same as ``likewise``."""

import gc

from likewise.cli.main import main


def run() -> None:
    try:
        main()
    finally:
        gc.freeze()  # or Python, on its way out, looks for garbage among all that was loaded, which takes it a fifth of a second


if __name__ == "__main__":
    run()
