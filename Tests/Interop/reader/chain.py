"""Hashes of entries, Merkle roots and chain values, by the sections "Seal" and "Chain"."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Iterable, Optional, Sequence

from .layout import Unreadable
from .values import decode

EMPTY_ROOT = sha256(b"").digest()
NO_CHAIN = bytes(32)
STREAM_NAME_SIZE = 16


def leaf(number: int, kind: int, data: bytes) -> bytes:
    """The hash of an entry."""
    return sha256(b"\0" + number.to_bytes(8, "little") + bytes([kind]) + data).digest()


def node(left: bytes, right: bytes) -> bytes:
    """The hash of two sides."""
    return sha256(b"\1" + left + right).digest()


def merkle_root(leaves: Sequence[bytes]) -> bytes:
    """The root over `leaves`, shaped as in RFC 6962, section 2.1."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node(merkle_root(leaves[:split]), merkle_root(leaves[split:]))


@dataclass(frozen=True)
class Link:
    """One segment's part of the chain of its stream."""

    log_id: str
    stream: str
    ordinal: int
    first: int
    last: int
    root: bytes
    before: bytes

    @property
    def value(self) -> bytes:
        """The chain value behind the segment."""
        numbers = (self.ordinal, self.first, self.last)
        return sha256(
            b"\2" + bytes.fromhex(self.log_id.replace("-", ""))
            + self.stream.encode("ascii").ljust(STREAM_NAME_SIZE, b"\0")
            + b"".join(number.to_bytes(8, "little") for number in numbers)
            + self.root + self.before
        ).digest()


def anchor_text(log_id: str, places: Iterable[tuple[str, int, int, int, bytes, bytes]]) -> str:
    """An anchor's text: of each stream name, ordinal, first, number, value, value before."""
    lines = ["daybook anchor 1", f"log {log_id}"]
    for stream, ordinal, first, number, value, before in sorted(places):
        lines.append(f"{stream} {ordinal} {first} {number} {value.hex()}")
        lines.append(f"{stream} boundary {ordinal - 1} {first - 1} {before.hex()}")
    return "".join(line + "\n" for line in lines)


@dataclass(frozen=True)
class Seal:
    """What the frame before the closing marks says of its file."""

    count: int
    first: int
    last: int
    digest: bytes
    root: bytes
    chain: bytes
    index: list[list[int]]
    low: int
    high: int
    extent: Optional[dict[str, Any]]


def parse_seal(payload: bytes) -> Seal:
    """The seal in a frame's payload."""
    members = _members(payload)
    extent = None
    if "feed" in members:
        extent = {key: members[key] for key in ("feed", "outbox", "feedChain", "outboxChain")}
    names = ("count", "first", "last", "digest", "root", "chain", "index", "low", "high")
    return Seal(*(members[name] for name in names), extent)


@dataclass(frozen=True)
class Proof:
    """What a compaction output knows of one original segment."""

    ordinal: int
    first: int
    last: int
    root: bytes
    before: Optional[bytes]
    dropped: list[tuple[int, int, bytes]]

    def is_made_of(self, leaves: Iterable[bytes]) -> bool:
        """Whether the kept entries' hashes give the root, together with what was dropped."""
        return partial_root(self.last - self.first + 1, self.dropped, list(leaves)) == self.root


def parse_proof(payload: bytes) -> Proof:
    """The proof in a frame's payload."""
    members = _members(payload)
    return Proof(
        members["ordinal"], members["first"], members["last"], members["root"],
        members.get("before"), [(level, index, digest) for level, index, digest in
                                members["dropped"]])


def partial_root(
    count: int, dropped: Sequence[tuple[int, int, bytes]], leaves: Sequence[bytes]
) -> Optional[bytes]:
    """The root over `count` leaves of which some stand in `dropped` and the others in `leaves`.

    None if they do not fill it. The places are given by the nodes of `dropped`, so a segment that
    has lost entries to damage has fewer leaves than numbers; `count` is the most there can be.
    """
    nodes: dict[tuple[int, int], bytes] = {}
    covered: set[int] = set()
    for level, index, digest in dropped:
        nodes[level, index] = digest
        covered.update(range(index << level, (index + 1) << level))
    total = len(covered) + len(leaves)
    if total > count or (covered and max(covered) >= total):
        return None
    rest = iter(leaves)
    for place in range(total):
        if place not in covered:
            nodes[0, place] = next(rest)
    return _subtree(nodes, 0, total) if total else EMPTY_ROOT


def _subtree(nodes: dict[tuple[int, int], bytes], first: int, count: int) -> Optional[bytes]:
    """The node over `count` leaves from `first` on: one that is given, or made of two."""
    level = count.bit_length() - 1
    if count == 1 << level and (level, first >> level) in nodes:
        return nodes[level, first >> level]
    if count == 1:
        return None
    split = 1 << ((count - 1).bit_length() - 1)
    left = _subtree(nodes, first, split)
    right = _subtree(nodes, first + split, count - split)
    return node(left, right) if left is not None and right is not None else None


def _members(payload: bytes) -> dict[str, Any]:
    value = decode(payload)
    if not isinstance(value, dict):
        raise Unreadable("no map")
    return value
