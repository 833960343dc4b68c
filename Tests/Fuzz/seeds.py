"""Writes what the fuzzers begin with: the parts of all fixtures, a directory for each target."""

from __future__ import annotations

import base64
import sys
from hashlib import sha256
from pathlib import Path
from typing import Iterator

import cbor2
from reader.directory import read_directory
from reader.frame import LZ4
from reader.history import anchor
from reader.segment import HEADER_SIZE, Segment

# The same as in LogTargets.swift.
NAMES = (
    "FORMAT", "HEAD", "outbox/00000001.g0.dbs", "outbox/00000002.g0.dbs",
    "outbox/00000003.g0.dbs", "outbox/00000001-00000002.g1.dbs", "feed/00000001.g0.dbs",
    "feed/00000002.g0.dbs", "feed/00000003.g0.dbs", "feed/00000001-00000002.g1.dbs",
    "snapshots/0000000004-0000000004.dbs", "changes/00000001.g0.dbs", "changes/00000002.g0.dbs",
)
FIXED_PART = {1: 128, 2: 32, 16: 80}
SETTLEMENT, CHANGE, CURSOR, SEAL, PROOF = 2, 16, 17, 5, 7
IDENTIFIER = bytes(range(16))

TEXTS = (
    (0, base64.urlsafe_b64encode(cbor2.dumps(
        {"epoch": IDENTIFIER, "scopes": {"sales": [12, 3]}}, canonical=True)).rstrip(b"=")),
    (1, b"0198c0de-0000-7000-8000-000000000001"),
    (2, b"-12.5e-3"), (2, b"5e40"),
    (3, b"2026-03-02T07:00:00.125Z"), (3, b"2026-03-02T07:00:00+01:00"),
    (4, b"AQID-_8"), (5, b"c9" * 32),
)
JSON = (
    b'{"a":[1,-2.5e-3,true,null,"\\u00e9\\n"],"b":{"c":18446744073709551615}}',
    b"[[[[]]],9007199254740993,1e308]",
)
ROWS = (
    {"text": "a", "number": 3, "small": 7, "double": 0.5, "flag": True, "word": "open"},
    {"text": "", "number": -1, "bytes": b"\0\1", "list": [1, 2], "nested": {"a": [1.5, None]}},
)


def seeds(fixtures: Path) -> Iterator[tuple[str, bytes]]:
    """Pairs of a target and an input."""
    for log in sorted(path.parent for path in fixtures.glob("*/*/log/FORMAT")):
        yield from _of_log(log)
    for kind, text in TEXTS:
        yield "text", bytes([kind]) + text
    for text in JSON:
        yield "json", text
    for path in sorted(fixtures.glob("**/*schema*.json")) + sorted(fixtures.glob("**/*.jsonl")):
        for line in path.read_bytes().splitlines()[:20]:
            yield "json", line
    for row in ROWS:
        yield "cbor", cbor2.dumps(row, canonical=True)
        yield "record", cbor2.dumps(row, canonical=True)
    yield from _messages()


def _of_log(log: Path) -> Iterator[tuple[str, bytes]]:
    archive = bytearray()
    for index, name in enumerate(NAMES):
        file = log / name
        if file.is_file():
            data = file.read_bytes()
            archive += bytes([index]) + len(data).to_bytes(4, "little") + data
    for target in ("log", "open"):
        yield target, b"\0" + bytes(archive)
        yield target, b"\1" + bytes(archive)
    if (log / "HEAD").is_file():
        head = (log / "HEAD").read_bytes()
        yield "head", head[:512]
        yield "head", head[512:]
    directory = read_directory(log)
    yield "text", b"\6" + (anchor(directory) or "").encode()
    for segments in directory.streams.values():
        for segment in segments:
            yield from _of_segment(segment)


def _of_segment(segment: Segment) -> Iterator[tuple[str, bytes]]:
    yield "segment", b"\0" + segment.data
    yield "segment", b"\1" + segment.data
    yield "header", segment.data[:HEADER_SIZE]
    for frame in segment.frames:
        yield "frame", segment.data[frame.offset:frame.end]
        stored = segment.data[frame.offset + 80:frame.offset + 80 + frame.stored]
        if frame.codec == LZ4:
            yield "payload", b"\2" + bytes([frame.raw >> 8]) + stored
        elif frame.kind in (SEAL, PROOF):
            yield "payload", (b"\0" if frame.kind == SEAL else b"\1") + stored
        else:
            yield "payload", b"\2" + bytes([frame.count]) + stored
        for entry in frame.entries:
            yield "entry", bytes([entry.kind]) + entry.data
            yield "cbor", entry.data[FIXED_PART.get(entry.kind, 0):]
            if entry.kind == CHANGE:
                yield "wire", b"\3" + cbor2.dumps({
                    "server": IDENTIFIER, "epoch": IDENTIFIER, "time": 1, "scopes": ["sales"],
                    "changes": [entry.data], "more": False,
                    "cursor": {"epoch": IDENTIFIER, "scopes": {"sales": [12, 3]}},
                }, canonical=True)
            elif entry.kind == SETTLEMENT:
                yield "wire", b"\1" + cbor2.dumps(
                    {"op": IDENTIFIER, "settlement": entry.data}, canonical=True)
            elif entry.kind == CURSOR:
                text = base64.urlsafe_b64encode(entry.data).rstrip(b"=")
                yield "text", b"\0" + text


def _messages() -> Iterator[tuple[str, bytes]]:
    """Messages whose members the mutations can work with."""
    identity = {"server": IDENTIFIER, "epoch": IDENTIFIER}
    messages = (
        {"account": "rep-7", "device": "phone", "incarnation": IDENTIFIER, "server": IDENTIFIER,
         "watermark": 3, "schema": 1, "operations": [], "withdrawn": [[IDENTIFIER, 4]]},
        {"op": IDENTIFIER, "deferred": "base"},
        {**identity, "time": 1, "results": []},
        {**identity, "time": 1, "scopes": [], "changes": [], "cursor": None, "more": True},
        {**identity, "scope": "sales", "sequence": 1, "mark": 2, "changes": [], "next": "a/b"},
        {"code": "unavailable", "message": "Later.", "watermark": 3},
    )
    for index, message in enumerate(messages):
        yield "wire", bytes([index]) + cbor2.dumps(message, canonical=True)
    yield "schema", (
        b'{"version":2,"collections":{"orders":{"fields":{"shop":{"type":"text"},'
        b'"quantity":{"type":"integer","optional":true}},"scope":"sales","history":{"days":30},'
        b'"actions":{"cancel":{"from":["open"],"set":{"status":"cancelled"}}}}}}')


def main() -> None:
    """Writes the seeds of the fixtures named first below the directory named second."""
    fixtures, target = Path(sys.argv[1]), Path(sys.argv[2])
    for name, data in seeds(fixtures):
        folder = target / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / sha256(data).hexdigest()[:16]).write_bytes(data)


if __name__ == "__main__":
    main()
