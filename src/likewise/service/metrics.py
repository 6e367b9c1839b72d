"""The metrics of the service for Prometheus, in a registry of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE

__all__ = ["CONTENT_TYPE", "Metrics"]

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._requests = Counter("likewise_requests", "Answered requests.", ("endpoint", "status"), registry=registry)
        self._seconds = Histogram("likewise_request_seconds", "Time from a request to its answer.", ("endpoint",), registry=registry, buckets=SECONDS)
        self._items = Counter("likewise_items", "Items of answered requests.", ("endpoint",), registry=registry)
        self._calls = Histogram("likewise_call_items", "Items per call of the index.", ("call",), registry=registry, buckets=SIZES)
        self._children = cache(lambda endpoint, status: (self._requests.labels(endpoint, status), self._seconds.labels(endpoint)))
        self.items = cache(self._items.labels)
        self.calls = cache(self._calls.labels)

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        Gauge(name, text, registry=self.registry).set_function(value)

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        requests, times = self._children(endpoint, str(status))
        requests.inc()
        times.observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self.registry)
