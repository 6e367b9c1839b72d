"""Codes: so many bits each."""

from __future__ import annotations

from likewise.kinds.kind import ASKED, Kind, MeasureFacts

HAMMING = MeasureFacts(
    "hamming", "likewise.measures.hamming:hamming", "the number of bits in which they differ", units=("bit", "bits"), distance=True
)


class Codes(Kind):
    """Codes of bits, all of one length."""

    name, noun, item = "codes", "code", "a code of bits"
    field = payload = holds = "code"
    measures = (HAMMING,)
    bands = ASKED
    needs_data = True


KIND = Codes()
