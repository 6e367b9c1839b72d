"""Messages about missing libraries name the right argument of pip."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.cli import doctor
from likewise.engines.spark import session
from likewise.errors import install
from likewise.index import postgres_wire
from likewise.service import start


def test_doctor_and_the_errors_name_the_same_thing_to_install() -> None:
    """Where the distribution alone is not enough: psycopg without [binary] has no library of PostgreSQL."""
    assert {doctor.WITH_EXTRA[name] for name in ("starlette", "uvicorn", "jinja2")} == {start.EXTRA}
    assert doctor.WITH_EXTRA["pyspark"] == session.EXTRA
    assert f'"{doctor.WITH_EXTRA["psycopg"]}"' in Path(postgres_wire.__file__).read_text()


def test_an_extra_of_a_clone_is_what_it_consists_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone is no distribution, and pip would look for likewise in the registry."""
    for found, wanted in (([], "'pyspark>=3.5' 'pandas>=2.2.2' "), ([object()], "'likewise[spark]'")):
        monkeypatch.setattr("importlib.metadata.distributions", lambda found=found, **_: iter(found))
        assert install("'likewise[spark]'").partition(" install ")[2].startswith(wanted)
        assert install("'psycopg[binary]'").endswith(" install 'psycopg[binary]'")
