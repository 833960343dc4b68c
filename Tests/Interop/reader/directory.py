"""A log's directory: its identity, what `HEAD` says, and its segments in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .layout import Cursor, crc32c
from .names import SNAPSHOT, STREAMS, FileName, segment_name, serving
from .segment import Segment, padded_text, read_segment
from .seals import is_whole

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
    snapshots: list[Segment] = field(default_factory=list)


def read_directory(path: Path) -> Directory:
    """Reads every file of a log."""
    directory = Directory(path, head=_read_head(path / "HEAD"))
    for stream in STREAMS:
        folder = path / stream
        if not folder.is_dir():
            continue
        names = [segment_name(stream, file.name) for file in folder.iterdir()]
        directory.streams[stream] = _serving(path, [name for name in names if name])
    if (path / "snapshots").is_dir():
        for file in sorted((path / "snapshots").iterdir()):
            if SNAPSHOT.match(file.name):
                name = FileName(f"snapshots/{file.name}", "feed", 1, 1, 0)
                directory.snapshots.append(read_segment(name, file.read_bytes()))
    return directory


def _serving(path: Path, names: list[FileName]) -> list[Segment]:
    """The files that count; inputs stand in for a compaction output that is not whole."""
    segments = []
    for name in serving(_covering(path, names)):
        segment = read_segment(name, (path / name.path).read_bytes())
        if name.generation > 0 and not is_whole(segment):
            inputs = serving(_covering(path, [
                other for other in names
                if other != name and name.first <= other.first and other.last <= name.last]))
            covered = [
                ordinal for other in inputs for ordinal in range(other.first, other.last + 1)]
            if covered == list(range(name.first, name.last + 1)):
                segments += _serving(path, list(inputs))
                continue
        segments.append(segment)
    return segments


def _covering(path: Path, names: list[FileName]) -> list[FileName]:
    """The files without the compaction outputs that have no header, where there are others."""
    outputs = [name for name in names if name.generation > 0]
    void = [
        name for name in outputs
        if read_segment(name, (path / name.path).read_bytes()).header is None]
    others = [name for name in names if name not in void]
    return others + [
        name for name in void
        if not any(name.first <= other.last and other.first <= name.last for other in others)]


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
