#!/usr/bin/env python3
"""`likewise serve` under 16 clients on loopback, beside an empty endpoint of the same server in the same run.

    python benchmarks/service.py FOLDER [--documents 100000] [--clients 16] [--seconds 20] [--rounds 3]

FOLDER gets the documents and the index (index_data.py). Each client keeps a connection and sends the next request when it has an answer: a document
of 200 words; every second one is a variant of one of the index. The rounds alternate between the service and the empty endpoint. Figures: requests a
second, processor time of the server for each request, the median and the 99th percentile of the time to an answer, and the memory of the service over
time. The clients run on the same machine, in one process that waits for sockets.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

import contest
import index_data
import likewise as lw

QUERIES = 2000
#: The floor: what the server takes to parse a request and to send an answer of the same size.
EMPTY = """
import sys, uvicorn
async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    body = b"x" * 150
    headers = [(b"content-type", b"application/json"), (b"content-length", b"150")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
uvicorn.run(app, port=int(sys.argv[1]), log_config=None, access_log=False, lifespan="off", ws="none", timeout_keep_alive=65)
"""


class Server(NamedTuple):
    name: str
    process: subprocess.Popen[bytes]
    port: int

    def processor(self) -> float:
        """Seconds of processor time of all its threads, those that have ended included."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Its memory in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1000


@contextmanager
def server(name: str, command: list[str]) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*command, str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield Server(name, process, port)
        finally:
            process.terminate()


def requests(texts: list[str]) -> list[bytes]:
    """Whole requests, ready to send."""
    made = []
    for text in texts:
        body = json.dumps({"items": [{"text": text}], "k": 3}).encode()
        head = f"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        made.append(head.encode() + body)
    return made


def ask(port: int, sent: list[bytes], clients: int, seconds: float) -> np.ndarray:
    """The times to the answers, in seconds. Raises ValueError for an answer that is not 200."""
    selector = selectors.DefaultSelector()
    began: dict[socket.socket, float] = {}
    parts: dict[socket.socket, bytes] = {}
    times, number = [], 0
    for _ in range(clients):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(sock, selectors.EVENT_READ)
        parts[sock] = b""
    end = time.perf_counter() + seconds
    for sock in parts:
        began[sock] = time.perf_counter()
        sock.send(sent[number % len(sent)])
        number += 1
    while began:
        for key, _ in selector.select():
            sock = key.fileobj
            assert isinstance(sock, socket.socket)
            parts[sock] += sock.recv(1 << 16)
            head, found, body = parts[sock].partition(b"\r\n\r\n")
            if not found or len(body) < int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]):
                continue
            now = time.perf_counter()
            if not head.startswith(b"HTTP/1.1 200"):
                raise ValueError(parts[sock])
            times.append(now - began.pop(sock))
            parts[sock] = b""
            if now < end:
                began[sock] = now
                sock.send(sent[number % len(sent)])
                number += 1
    for sock in parts:
        sock.close()
    return np.array(times)


def main() -> None:
    parser = contest.arguments(__doc__, rounds=3)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    place, documents = options.folder / f"served-{options.documents}.lw", options.folder / f"documents-{options.documents}.jsonl"
    if not place.exists():
        if not documents.exists():
            index_data.written(index_data.blocks(options.documents), documents)
        lw.Index.build(place, documents, by="words:5", threshold=0.8).close()
    asked = options.folder / f"queries-{options.documents}-{QUERIES}.jsonl"
    if not asked.exists():
        index_data.written(iter([index_data.queries(options.documents, QUERIES)]), asked)
    sent = requests(index_data.read(asked))
    command = [sys.executable, "-P", "-m", "likewise", "serve", str(place), "--port"]
    with server("likewise serve", command) as service, server("empty endpoint", [sys.executable, "-P", "-c", EMPTY]) as empty:
        for one in (service, empty):
            ask(one.port, sent, options.clients, 2)
        memory = [service.memory()]
        print("| round | server | requests/s | processor us a request | p50 ms | p99 ms | memory MB |\n|---|---|---|---|---|---|---|")
        for turn in range(options.rounds):
            for one in (service, empty) if turn % 2 == 0 else (empty, service):
                before = one.processor()
                times = ask(one.port, sent, options.clients, options.seconds)
                spent = one.processor() - before
                middle, late = np.percentile(times, [50, 99]) * 1000
                rate, each = len(times) / options.seconds, spent / len(times) * 1e6
                print(f"| {turn + 1} | {one.name} | {rate:,.0f} | {each:.0f} | {middle:.1f} | {late:.1f} | {one.memory():.0f} |", flush=True)
            memory.append(service.memory())
        print(f"memory of the service: {memory[0]:.0f} MB before, {memory[-1]:.0f} MB after")


if __name__ == "__main__":
    main()
