"""What the names of files say, and which files count, by the section "Directory"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterable, Optional

STREAMS = ("outbox", "feed", "changes")
SEGMENT = re.compile(r"^(\d{8,})(?:-(\d{8,}))?\.g(\d+)\.dbs$")
SNAPSHOT = re.compile(r"^(\d{10,})-(\d{10,})\.dbs$")


@dataclass(frozen=True)
class FileName:
    """The name of a file of a stream."""

    path: str
    stream: str
    first: int
    last: int
    generation: int


def segment_name(stream: str, name: str) -> Optional[FileName]:
    """What `name` in the folder of `stream` says; None if it is no segment's name."""
    match = SEGMENT.match(name)
    if not match:
        return None
    first, generation = int(match.group(1)), int(match.group(3))
    last = int(match.group(2) or first)
    is_range = match.group(2) is not None
    spelled = f"{first:08}-{last:08}" if is_range else f"{first:08}"
    if is_range != (generation > 0) or not 0 < first <= last:
        return None
    if name != f"{spelled}.g{generation}.dbs":
        return None
    return FileName(f"{stream}/{name}", stream, first, last, generation)


def serving(names: Iterable[FileName]) -> list[FileName]:
    """Of each ordinal the file of the highest generation that covers it, by ordinal."""
    best: dict[int, FileName] = {}
    for name in sorted(names, key=lambda each: each.generation):
        for ordinal in range(name.first, name.last + 1):
            best[ordinal] = name
    return sorted(set(best.values()), key=lambda each: each.first)
