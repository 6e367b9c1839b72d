"""``python -m likewise`` is the same as ``likewise``."""

from likewise.cli.main import main

if __name__ == "__main__":
    main()
