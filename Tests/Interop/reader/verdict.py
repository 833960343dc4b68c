"""The verdict of each file: which frames count, and what is wrong, by the section "Verdict"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from .directory import Directory, HeadEntry
from .frame import BATCH, CLOSING_MARK, ECHO, Frame
from .layout import crc32c
from .seals import is_whole
from .segment import FIRST_FRAME, PAGE, Predecessor, Segment

TORN, HEALED, DAMAGED, MISSING = "torn", "healed", "damaged", "missing"
WORST_FIRST = (MISSING, DAMAGED, TORN, HEALED)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file."""

    verdict: str
    offset: int
    words: str


@dataclass
class Judgement:
    """What counts of a file."""

    segment: Segment
    verdict: str = "clean"
    is_closed: bool = False
    valid_end: int = 0
    counting: list[Frame] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class _Limits:
    """Where the frames that count end, by the header of a later segment; None is no limit."""

    settled: Optional[Predecessor] = None
    below: Optional[int] = None


def judge(directory: Directory) -> dict[str, list[Judgement]]:
    """The judgement of every file, by stream, in the order of their ordinals."""
    result = {}
    for stream, segments in directory.streams.items():
        others = [name for name in directory.streams if name != stream]
        other_next = max(
            (frame.other_next for name in others for segment in directory.streams[name]
             for frame in segment.frames), default=0)
        judgements = []
        for index, segment in enumerate(segments):
            later = [each for each in segments[index + 1:] if each.header]
            head = directory.head.get(stream)
            judgements.append(_judge(segment, later, head, other_next))
        result[stream] = judgements
    return result


def _limits(segment: Segment, later: list[Segment]) -> _Limits:
    if not later or later[0].header is None:
        return _Limits()
    header = later[0].header
    before = header.predecessor
    if before is not None and before.ordinal == segment.ordinal:
        return _Limits(settled=before, below=before.last + 1)
    return _Limits(below=header.first_number)


def _judge(
    segment: Segment, later: list[Segment], head: Optional[HeadEntry], other_next: int
) -> Judgement:
    judgement = Judgement(segment)
    limits = _limits(segment, later)
    if segment.header is None:
        return judgement
    if segment.generation > 0:
        return _judge_compacted(judgement)
    head_here = head if head is not None and head.ordinal == segment.ordinal else None
    durable = max((frame.durable for frame in segment.frames), default=0)
    if head_here is not None:
        durable = max(durable, head_here.durable)
    if other_next:
        durable = max(durable, other_next - 1)
    if limits.below is not None:
        durable = max(durable, limits.below - 1)
    _walk(judgement, limits, durable)
    _close(judgement)
    _check_twins(judgement, durable)
    _check_headers(judgement)
    _settle(judgement, limits)
    _summarise(judgement, limits)
    return judgement


def _judge_compacted(judgement: Judgement) -> Judgement:
    """A compaction output: what is not there was dropped, so only its seal tells of a loss."""
    segment = judgement.segment
    judgement.counting = [
        frame for frame in segment.frames if frame.has_entries and not frame.is_echo]
    judgement.is_closed = any(frame.kind == CLOSING_MARK for frame in segment.frames)
    judgement.valid_end = len(segment.data)
    if not is_whole(segment):
        judgement.verdict = DAMAGED
    return judgement


def _walk(judgement: Judgement, limits: _Limits, durable: int) -> None:
    """Follows the frame numbers from 0 and takes the frames that count."""
    segment = judgement.segment
    frames = segment.frames
    end = limits.settled.valid_end if limits.settled else len(segment.data)
    by_number: dict[int, Frame] = {}
    for frame in frames:
        standing = by_number.get(frame.number)
        if frame.end <= end and (standing is None or standing.is_echo):
            if standing is None or not frame.is_echo:
                by_number[frame.number] = frame
    assert segment.header is not None
    expected = segment.header.first_number
    place = FIRST_FRAME
    previous = -1
    for number in sorted(by_number):
        frame = by_number[number]
        if limits.below is not None and frame.next_number > limits.below:
            break
        if number != previous + 1 and frame.first != expected:
            if durable < expected:
                _torn(judgement, place)
                return
            _lost(judgement, place, expected, frame.first - 1)
        previous = number
        expected = frame.next_number
        judgement.counting.append(frame)
        judgement.valid_end = frame.end
        place = _next_place(judgement, frame)
    if not judgement.is_closed and _has_more(segment, judgement.valid_end):
        _torn(judgement, place)


def _next_place(judgement: Judgement, frame: Frame) -> int:
    """Where the frame behind one that counts begins."""
    header = judgement.segment.header
    assert header is not None
    end = frame.end
    if header.is_echoed:
        for other in judgement.segment.frames:
            if other.number == frame.number:
                end = max(end, other.end)
        judgement.valid_end = end
        return -(-end // PAGE) * PAGE
    return end


def _has_more(segment: Segment, offset: int) -> bool:
    return any(segment.data[offset:])


def _torn(judgement: Judgement, offset: int) -> None:
    words = "the last write did not finish; it was never acknowledged"
    judgement.findings.append(Finding(TORN, offset, words))


def _lost(judgement: Judgement, offset: int, first: int, last: int) -> None:
    entries = f"entry {first}" if first == last else f"entries {first} to {last}"
    words = f"an acknowledged frame fails its checks ({entries})"
    judgement.findings.append(Finding(DAMAGED, offset, words))


def _close(judgement: Judgement) -> None:
    """Whether the file ends behind its second closing mark."""
    marks = [frame for frame in judgement.counting if frame.kind == CLOSING_MARK]
    size = len(judgement.segment.data)
    judgement.is_closed = bool(marks) and marks[-1].end == size


def _check_twins(judgement: Judgement, durable: int) -> None:
    """Finds the copies that are gone while the other one stands in."""
    header = judgement.segment.header
    assert header is not None
    if not header.is_echoed:
        return
    offsets: dict[tuple[int, int], int] = {}
    for frame in judgement.segment.frames:
        offsets[frame.number, frame.kind] = frame.offset
    for frame in judgement.counting:
        other = ECHO if frame.kind == BATCH else BATCH
        if not frame.has_entries or (frame.number, other) in offsets or frame.first > durable:
            continue
        pages = -(-(frame.end - frame.offset) // PAGE) * PAGE
        offset = frame.offset + (pages if other == ECHO else -pages)
        words = "one copy of a frame fails its checks; the other stands in"
        judgement.findings.append(Finding(HEALED, offset, words))


def _check_headers(judgement: Judgement) -> None:
    for offset in judgement.segment.bad_headers:
        words = "one copy of the header fails its checks; the other stands in"
        judgement.findings.append(Finding(HEALED, offset, words))


def _settle(judgement: Judgement, limits: _Limits) -> None:
    """A file with a successor counts as it was when it was settled."""
    settled = limits.settled
    if settled is None:
        return
    judgement.valid_end = settled.valid_end
    data = judgement.segment.data
    if settled.is_settled and len(data) == settled.size and crc32c(data) == settled.checksum:
        judgement.findings = [each for each in judgement.findings if each.verdict == TORN]


def _summarise(judgement: Judgement, limits: _Limits) -> None:
    found = {finding.verdict for finding in judgement.findings}
    worst = next((verdict for verdict in WORST_FIRST if verdict in found), "clean")
    if worst == TORN and limits.settled is not None:
        worst = "settled"
        judgement.findings = []
    judgement.verdict = worst
    judgement.findings.sort(key=lambda finding: finding.offset)
