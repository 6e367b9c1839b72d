"""``python -P -m likewise`` is the same as ``likewise``.

Without ``-P`` Python searches the current folder for modules, and a ``types.py`` in it runs before this file does.
"""

import gc
import os
import sys

#: New objects between two garbage collections. Loading creates some hundred thousand objects and no garbage; with Python's default of 700,
#: collections take a tenth of the time.
NEW_OBJECTS = 10**5


class WithoutPandas:
    """A finder of modules that refuses pandas: where it is installed, pyarrow imports it to ask whether a value is one of its objects.

    That takes up to half a second, and the command line has no such object. PySpark needs it.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas" and "pyspark" not in sys.modules:
            raise ModuleNotFoundError("the command line does without pandas", name=name)


def run() -> None:
    gc.set_threshold(NEW_OBJECTS)
    sys.meta_path.insert(0, WithoutPandas)  # type: ignore[arg-type]  # a class serves as well as an object
    # Threads of OpenBLAS spin for 2^26 cycles, a tenth of a second of processor time at the start, before they sleep.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
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
