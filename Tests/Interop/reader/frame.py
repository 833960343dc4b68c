"""Frames: the unit of writing, checking, durability and visibility."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import lz4.block

from .layout import Cursor, Unreadable, crc32c

HEADER_SIZE = 80
ALIGNMENT = 8
MAGIC = b"DBF1"
LARGEST_PAYLOAD = 16 * 1024 * 1024
ENTRY_HEADER_SIZE = 12

KEPT_PREFIX_SIZE = 24

BATCH, ECHO, IDLE_MARK, CLOSING_MARK, SEAL, KEPT, PROOF, KEPT_ECHO = range(1, 9)
KIND_NAMES = {
    BATCH: "batch", ECHO: "echo", IDLE_MARK: "idleMark", CLOSING_MARK: "closingMark",
    SEAL: "seal", KEPT: "kept", PROOF: "proof", KEPT_ECHO: "keptEcho",
}
WITH_ENTRIES = (BATCH, ECHO, KEPT, KEPT_ECHO)
ECHOES = (ECHO, KEPT_ECHO)
RAW, LZ4 = 0, 1
CODEC_NAMES = {RAW: "raw", LZ4: "lz4"}


@dataclass(frozen=True)
class RawEntry:
    """An entry's kind and bytes, not yet decoded."""

    number: int
    kind: int
    data: bytes


@dataclass(frozen=True)
class Frame:
    """A frame whose checksums are right."""

    offset: int
    kind: int
    codec: int
    stored: int
    raw: int
    count: int
    number: int
    first: int
    durable: int
    other_next: int
    clock: int
    payload: bytes
    entries: tuple[RawEntry, ...]

    @property
    def end(self) -> int:
        """The offset behind the zeros that pad it."""
        return _aligned(self.offset + HEADER_SIZE + self.stored)

    @property
    def next_number(self) -> int:
        """The number of the entry that comes behind it."""
        return self.entries[-1].number + 1 if self.entries else self.first

    @property
    def has_entries(self) -> bool:
        """Whether it is of a kind that holds entries."""
        return self.kind in WITH_ENTRIES

    @property
    def is_echo(self) -> bool:
        """Whether it is the second copy of a frame."""
        return self.kind in ECHOES


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def parse_frame(data: bytes, offset: int, salt: bytes) -> Frame:
    """The frame at `offset` of a file's bytes, or `Unreadable`."""
    cursor = Cursor(data, offset)
    header = cursor.take(HEADER_SIZE)
    cursor = Cursor(header)
    if cursor.take(4) != MAGIC:
        raise Unreadable("no frame")
    place = offset.to_bytes(8, "little")
    if cursor.number(4) != crc32c(header[8:] + salt + place):
        raise Unreadable("the frame header's checksum")
    kind, codec = cursor.number(1), cursor.number(1)
    cursor.zeros(2)
    stored, raw, count = cursor.number(4), cursor.number(4), cursor.number(4)
    number, first, durable, other_next, clock = (cursor.number(8) for _ in range(5))
    stored_checksum, raw_checksum = cursor.number(4), cursor.number(4)
    cursor.zeros(8)
    if stored > LARGEST_PAYLOAD or raw > LARGEST_PAYLOAD:
        raise Unreadable("the payload's size")
    body = Cursor(data, offset + HEADER_SIZE).take(stored)
    if crc32c(body) != stored_checksum:
        raise Unreadable("the payload's checksum")
    payload = _decompressed(body, codec, raw)
    if codec != RAW and crc32c(payload) != raw_checksum:
        raise Unreadable("the decompressed payload's checksum")
    if codec == RAW and (stored_checksum != raw_checksum or stored != raw):
        raise Unreadable("a raw payload with two sizes or checksums")
    entries: tuple[RawEntry, ...] = ()
    if kind in WITH_ENTRIES:
        entries = _entries(payload, first, count, kind in (KEPT, KEPT_ECHO))
    return Frame(
        offset, kind, codec, stored, raw, count, number, first, durable, other_next, clock,
        payload, entries)


def _decompressed(body: bytes, codec: int, raw: int) -> bytes:
    if codec == RAW:
        return body
    if codec != LZ4:
        raise Unreadable(f"codec {codec}")
    try:
        payload = lz4.block.decompress(body, uncompressed_size=raw)
    except lz4.block.LZ4BlockError as error:
        raise Unreadable("no LZ4 block") from error
    if len(payload) != raw:
        raise Unreadable("the payload's size before compression")
    return payload


def _entries(payload: bytes, first: int, count: int, is_kept: bool) -> tuple[RawEntry, ...]:
    entries: list[RawEntry] = []
    cursor = Cursor(payload)
    while cursor.offset < len(payload):
        size, kind = cursor.number(4), cursor.number(1)
        cursor.zeros(3)
        checksum = cursor.number(4)
        data = cursor.take(size)
        if crc32c(bytes([kind]) + data) != checksum:
            raise Unreadable("an entry's checksum")
        number = first + len(entries)
        if is_kept:
            number, data = Cursor(data).number(8), data[KEPT_PREFIX_SIZE:]
        entries.append(RawEntry(number, kind, data))
    if len(entries) != count:
        raise Unreadable("the number of entries")
    return tuple(entries)


def scan(data: bytes, begin: int, salt: bytes) -> list[Frame]:
    """All valid frames from `begin` on, whatever lies between."""
    frames = []
    offset = begin
    while True:
        offset = data.find(MAGIC, offset)
        if offset < 0:
            return frames
        frame = _frame_or_none(data, offset, salt)
        if frame is None:
            offset += 1
        else:
            frames.append(frame)
            offset = frame.end


def _frame_or_none(data: bytes, offset: int, salt: bytes) -> Optional[Frame]:
    if offset % ALIGNMENT:
        return None
    try:
        return parse_frame(data, offset, salt)
    except Unreadable:
        return None
