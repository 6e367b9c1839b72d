"""``python -P -m likewise`` is the same as ``likewise``.

Without ``-P`` Python searches the current folder for modules, and a ``types.py`` in it runs before this file does.
"""

import gc
import sys


def run() -> None:
    from likewise.cli.main import main

    try:
        main()
    finally:
        gc.freeze()  # or Python, on its way out, looks for garbage among all that was loaded, which takes it a fifth of a second


# Python keeps the frames of calls in chunks of 16 KB. A loop that calls across the end of a chunk makes the system map and unmap one at each call,
# which took up to .15 s of a run. The frame of `run` needs a chunk so large that all calls below it find room in the same one.
run.__code__ = run.__code__.replace(co_stacksize=1 << 15)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, so that likewise imports nothing from it
    run()
