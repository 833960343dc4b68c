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
    if seal_problems(segment) or has_stray_bytes(segment):
        return False
    seal, _ = found
    kinds = [frame.kind for frame in segment.frames]
    count = sum(frame.count for frame in segment.frames if frame.has_entries and not frame.is_echo)
    return (
        count == seal.count and kinds.count(SEAL) == 1 and IDLE_MARK not in kinds
        and kinds.count(CLOSING_MARK) == 2 and kinds[-1] == CLOSING_MARK)


def has_stray_bytes(segment: Segment) -> bool:
    """Whether there are bytes that are neither a header copy's, nor a frame's, nor zero."""
    free = HEADER_SIZE
    rest = [(PAGE, PAGE + HEADER_SIZE)]
    rest += [(frame.offset, frame.offset + 80 + frame.stored) for frame in segment.frames]
    for begin, end in rest:
        if any(segment.data[free:begin]):
            return True
        free = end
    assert free >= FIRST_FRAME or not segment.frames
    return any(segment.data[free:])
