"""A log's directory: its identity, what `HEAD` says, and its segments in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .layout import Cursor, crc32c
from .segment import FILE_NAME, Segment, padded_text, read_segment

STREAMS = ("outbox", "feed", "changes")
SLOT_SIZE = 512
HEAD_MAGIC = b"DBHEAD01"
MOST_STREAMS = 8


@dataclass(frozen=True)
class HeadEntry:
    """What `HEAD` says of one stream."""

    ordinal: int
    durable: int
    valid_end: int
    is_closed: bool


@dataclass
class Directory:
    """All that was read of a log's directory."""

    path: Path
    head: dict[str, HeadEntry] = field(default_factory=dict)
    streams: dict[str, list[Segment]] = field(default_factory=dict)


def read_directory(path: Path) -> Directory:
    """Reads every file of a log."""
    directory = Directory(path, head=_read_head(path / "HEAD"))
    for stream in STREAMS:
        folder = path / stream
        if not folder.is_dir():
            continue
        named = []
        for file in folder.iterdir():
            match = FILE_NAME.match(file.name)
            if match and match.group(2) is None and match.group(3) == "0":
                named.append((int(match.group(1)), file))
        directory.streams[stream] = [
            read_segment(f"{stream}/{file.name}", stream, ordinal, file.read_bytes())
            for ordinal, file in sorted(named)
        ]
    return directory


def _read_head(path: Path) -> dict[str, HeadEntry]:
    """The newer of the two slots that are valid."""
    if not path.is_file():
        return {}
    data = path.read_bytes()
    best: tuple[int, dict[str, HeadEntry]] = (-1, {})
    for begin in (0, SLOT_SIZE):
        slot = data[begin:begin + SLOT_SIZE]
        if len(slot) < SLOT_SIZE or slot[:8] != HEAD_MAGIC:
            continue
        if crc32c(slot[:508]) != int.from_bytes(slot[508:], "little"):
            continue
        cursor = Cursor(slot, 8)
        writes, count = cursor.number(8), cursor.number(8)
        if count > MOST_STREAMS or writes <= best[0]:
            continue
        entries = {}
        for _ in range(count):
            name = padded_text(cursor.take(16))
            ordinal, durable, valid_end, closed = (cursor.number(8) for _ in range(4))
            entries[name] = HeadEntry(ordinal, durable, valid_end, closed == 1)
        best = (writes, entries)
    return best[1]
