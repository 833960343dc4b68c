"""Whether a sealed file is as it was written, by the sections "Seal" and "Snapshots"."""

from __future__ import annotations

from hashlib import sha256
from typing import Optional

from .chain import Seal, parse_seal
from .frame import CLOSING_MARK, IDLE_MARK, SEAL, Frame
from .layout import Unreadable
from .segment import FIRST_FRAME, HEADER_SIZE, PAGE, Segment


def seal_of(segment: Segment) -> Optional[tuple[Seal, Frame]]:
    """The seal of a file and its frame; None without one."""
    for frame in segment.frames:
        if frame.kind == SEAL:
            try:
                return parse_seal(frame.payload), frame
            except (Unreadable, KeyError, TypeError):
                return None
    return None


def seal_problems(segment: Segment) -> list[str]:
    """What is wrong with what a file's seal says of its bytes."""
    found = seal_of(segment)
    if found is None:
        return []
    seal, frame = found
    problems = []
    if sha256(segment.data[:frame.offset]).digest() != seal.digest:
        problems.append("the digest is not that of the bytes")
    offsets = {each.offset: each for each in segment.frames}
    for number, offset in seal.index:
        if offset not in offsets or offsets[offset].first != number:
            problems.append(f"the index names {number} at {offset}")
    clocks = [each.clock for each in segment.frames if each.has_entries and not each.is_echo]
    lowest, highest = min(clocks, default=0), max(clocks, default=0)
    # A kept entry has a clock of its own, not above its frame's.
    is_low = seal.low <= lowest if segment.generation else seal.low == lowest
    if not is_low or seal.high != highest:
        problems.append("the clocks are not those of the frames")
    return [f"{segment.name}: {problem}" for problem in problems]


def is_whole(segment: Segment) -> bool:
    """Whether every byte of a file that was written at once is as it was."""
    found = seal_of(segment)
    if segment.header is None or segment.bad_headers or found is None:
        return False
    if seal_problems(segment) or stray_offsets(segment):
        return False
    seal, _ = found
    kinds = [frame.kind for frame in segment.frames]
    count = sum(frame.count for frame in segment.frames if frame.has_entries and not frame.is_echo)
    return (
        count == seal.count and kinds.count(SEAL) == 1 and IDLE_MARK not in kinds
        and kinds.count(CLOSING_MARK) == 2 and kinds[-1] == CLOSING_MARK)


def stray_offsets(segment: Segment) -> list[int]:
    """The first byte of each run that is neither in a header copy, nor in a frame, nor zero."""
    covered = [
        (offset, offset + HEADER_SIZE) if offset not in segment.bad_headers
        else (offset, offset + PAGE) for offset in (0, PAGE)]
    for frame in segment.frames:
        covered += [(frame.offset, frame.offset + 80 + frame.stored), (frame.end, frame.end)]
    strays = []
    free = 0
    for begin, end in covered + [(len(segment.data), 0)]:
        # The two header pages and what follows are runs of their own.
        for start, stop in _split(free, begin):
            rest = segment.data[start:stop].lstrip(b"\0")
            if rest:
                strays.append(stop - len(rest))
        free = max(free, end)
    return strays


def _split(begin: int, end: int) -> list[tuple[int, int]]:
    if begin < FIRST_FRAME < end:
        return [(begin, FIRST_FRAME), (FIRST_FRAME, end)]
    return [(begin, end)]
