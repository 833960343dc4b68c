"""Segment files: the header, its two copies, and the frames of the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from .frame import Frame, scan
from .names import FileName
from .layout import Cursor, Unreadable, crc32c

HEADER_SIZE = 512
PAGE = 4096
FIRST_FRAME = 8192
MAGIC = bytes.fromhex("8944424C0D0A1A0A")
LARGEST_NUMBER = 2**53


@dataclass(frozen=True)
class Predecessor:
    """What a header says of the segment before it."""

    ordinal: int
    valid_end: int
    size: int
    last: int
    checksum: int
    is_settled: bool
    chain: bytes


@dataclass(frozen=True)
class Header:
    """The 512 bytes at the front of a segment."""

    minor: int
    kind: int
    incompatible: int
    read_only_compatible: int
    log_id: str
    incarnation: str
    salt: bytes
    stream: str
    first_ordinal: int
    last_ordinal: int
    generation: int
    flags: int
    first_number: int
    clock: int
    predecessor: Optional[Predecessor]
    account: str

    @property
    def is_echoed(self) -> bool:
        """Whether groups begin on pages and are written twice."""
        return bool(self.flags & 1)

    @property
    def begins_after_damage(self) -> bool:
        """Whether the first frame holds `gap` entries."""
        return bool(self.flags & 2)


def parse_header(data: bytes) -> Header:
    """The header in `data`, or `Unreadable`."""
    if len(data) < HEADER_SIZE or data[:8] != MAGIC:
        raise Unreadable("no segment header")
    data = data[:HEADER_SIZE]
    if crc32c(data[:508]) != int.from_bytes(data[508:], "little"):
        raise Unreadable("the header's checksum")
    cursor = Cursor(data, 8)
    major, minor, size = cursor.number(2), cursor.number(2), cursor.number(2)
    if major != 1:
        raise Unreadable(f"format version {major}")
    if size != HEADER_SIZE:
        raise Unreadable("the header's size")
    kind = cursor.number(1)
    cursor.take(1)
    incompatible, read_only, _ = cursor.number(8), cursor.number(8), cursor.number(8)
    log_id, incarnation, salt = cursor.identifier(), cursor.identifier(), cursor.take(16)
    stream = padded_text(cursor.take(16))
    first_ordinal, last_ordinal = cursor.number(8), cursor.number(8)
    generation, flags = cursor.number(4), cursor.number(4)
    first_number, clock = cursor.number(8), cursor.number(8)
    predecessor = _predecessor(cursor)
    cursor.take(16)
    account_size = cursor.number(2)
    cursor.take(6)
    account = cursor.take(128)
    if account_size > len(account):
        raise Unreadable("the account's size")
    if not 0 < first_ordinal < LARGEST_NUMBER or not 0 < first_number < LARGEST_NUMBER:
        raise Unreadable("an ordinal or a number of zero")
    return Header(
        minor, kind, incompatible, read_only, log_id, incarnation, salt, stream, first_ordinal,
        last_ordinal, generation, flags, first_number, clock, predecessor,
        Cursor(account).text(account_size))


def _predecessor(cursor: Cursor) -> Optional[Predecessor]:
    ordinal, valid_end, size, last = (cursor.number(8) for _ in range(4))
    checksum, flags, chain = cursor.number(4), cursor.number(4), cursor.take(32)
    if ordinal == 0:
        return None
    return Predecessor(ordinal, valid_end, size, last, checksum, bool(flags & 1), chain)


def padded_text(data: bytes) -> str:
    """A text that zeros pad."""
    return Cursor(data.rstrip(b"\0")).text(len(data.rstrip(b"\0")))


@dataclass
class Segment:
    """A segment file as it was read."""

    name: str
    stream: str
    ordinal: int
    last_ordinal: int
    generation: int
    data: bytes
    header: Optional[Header] = None
    bad_headers: list[int] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)

    @property
    def is_spare(self) -> bool:
        """Whether the file holds zeros alone: prepared for later."""
        return not any(self.data)


def read_segment(name: FileName, data: bytes) -> Segment:
    """Reads a file's header from either copy, and all its valid frames."""
    segment = Segment(
        name.path, name.stream, name.first, name.last, name.generation, data)
    if segment.is_spare:
        return segment
    for offset in (0, PAGE):
        try:
            header = parse_header(data[offset:offset + HEADER_SIZE])
            if header.stream != name.stream or header.first_ordinal != name.first:
                raise Unreadable("the header of another segment")
            segment.header = segment.header or header
        except Unreadable:
            segment.bad_headers.append(offset)
    if segment.header is not None:
        segment.frames = scan(data, FIRST_FRAME, segment.header.salt)
    return segment
