"""Damage that an earlier opening has recorded, by the section "Recovery"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from .layout import Unreadable
from .segment import Segment
from .values import decode

if TYPE_CHECKING:
    from .verdict import Finding

GAP = 7
# The kinds of findings, as gap entries have them, by which entries are lost.
LOSSES = ("header", "foreign", "seal", "chain", "frame", "missing", "entry")


def recorded_gaps(segments: list[Segment]) -> dict[int, dict[str, Any]]:
    """The gap entries of a stream by number: those of segments that say they begin with some."""
    gaps = {}
    for segment in segments:
        if segment.header is None or not segment.header.begins_after_damage:
            continue
        for frame in segment.frames:
            for entry in frame.entries:
                if entry.kind == GAP:
                    try:
                        gaps[entry.number] = decode(entry.data)
                    except Unreadable:
                        continue
    return gaps


def record_of(
    finding: Finding, file: str, stream: str, gaps: dict[int, dict[str, Any]]
) -> Optional[str]:
    """The gap entry that settles a finding, as STREAM:NUMBER; None for new damage."""
    number = _record(finding, file, gaps)
    return None if number is None else f"{stream}:{number}"


def _record(finding: Finding, file: str, gaps: dict[int, dict[str, Any]]) -> Optional[int]:
    if finding.kind[0] == "torn":
        return None
    in_order = sorted(gaps.items())
    if finding.lost is None:
        return next(
            (number for number, gap in in_order
             if gap["file"] == file and "lost" not in gap
             and (gap["kind"] in LOSSES) == finding.is_loss), None)
    first, last = finding.lost
    for number, gap in in_order:
        if "cut" in gap and gap["cut"] <= first and last < number:
            return number
    record = None
    for number, gap in sorted(in_order, key=lambda item: item[1].get("lost", [0])[0]):
        begin, end = gap.get("lost", (1, 0))
        if begin <= first <= end:
            record = record or number
            if end >= last:
                return record
            first = end + 1
    return None
