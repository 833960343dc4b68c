"""The verdict of each file: which frames count, and what is wrong, by the section "Verdict"."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Optional

from .directory import Directory, HeadEntry
from .frame import BATCH, CLOSING_MARK, ECHO, Frame
from .known import record_of, recorded_gaps
from .layout import crc32c
from .names import FileName
from .seals import is_whole, seal_of, stray_offsets
from .segment import FIRST_FRAME, LARGEST_NUMBER, PAGE, Predecessor, Segment

TORN, HEALED, DAMAGED, MISSING = "torn", "healed", "damaged", "missing"
WORST_FIRST = (MISSING, DAMAGED, HEALED, TORN)
MARK_SIZE = 80

HEADER_COPY = (HEALED, "one copy of the header fails its checksum; the other stands in")
FOREIGN = (DAMAGED, "the file belongs to another log")
HEADER = (DAMAGED, "both copies of the header fail their checksum")
FRAME = (DAMAGED, "an acknowledged frame fails its checks")
FRAME_COPY = (HEALED, "one copy of a frame fails its checks; the other stands in")
PADDING = (HEALED, "bytes that must be zero are not; no entry is touched")
SETTLED_TAIL = (HEALED, "the bytes behind the valid end have changed; no entry is touched")
FILE_SIZE = (HEALED, "the file has another size than it was closed with")
MARK = (HEALED, "a mark or the seal fails its checks; no entry is touched")
GONE = (MISSING, "acknowledged entries are missing")
TAIL = (TORN, "the last write did not finish; it was never acknowledged")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a file, and the numbers that are lost by it."""

    kind: tuple[str, str]
    offset: int
    lost: Optional[tuple[int, int]] = None
    record: Optional[str] = None

    @property
    def words(self) -> str:
        """The finding in words."""
        words = self.kind[1]
        if self.lost is not None:
            first, last = self.lost
            words += f" (entr{f'y {first}' if first == last else f'ies {first} to {last}'})"
        return words if self.record is None else f"{words}; known, recorded as {self.record}"

    @property
    def is_loss(self) -> bool:
        """Whether entries are lost by it."""
        return self.kind[0] in (DAMAGED, MISSING)


@dataclass
class Context:
    """What is known of a segment from outside its file."""

    expected: int
    witness: int = 0
    log_id: Optional[str] = None
    settled: Optional[Predecessor] = None
    last: Optional[int] = None
    head: Optional[HeadEntry] = None


@dataclass
class Judgement:
    """What counts of a file."""

    segment: Segment
    verdict: str = "clean"
    is_closed: bool = False
    is_spare: bool = False
    valid_end: int = 0
    next_number: int = 1
    counting: list[Frame] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add(
        self, kind: tuple[str, str], offset: int, first: int = 1, last: int = 0
    ) -> None:
        """Adds a finding; no number is lost by it if `last` is below `first`."""
        self.findings.append(Finding(kind, offset, (first, last) if first <= last else None))

    @property
    def last_lost(self) -> int:
        """The highest number that is lost; 0 if none is."""
        return max((finding.lost[1] for finding in self.findings if finding.lost), default=0)


def judge(directory: Directory) -> dict[str, list[Judgement]]:
    """The judgement of every file, by stream, in the order of their ordinals."""
    judgements = {}
    for stream, segments in directory.streams.items():
        judgements[stream] = _judge_stream(directory, stream)
        gaps = recorded_gaps(segments)
        for judgement in judgements[stream]:
            judgement.findings = [
                replace(finding, record=record_of(finding, judgement.segment.name, stream, gaps))
                for finding in judgement.findings]
    return judgements


def _log_id(directory: Directory) -> Optional[str]:
    """The log that most headers name."""
    named = Counter(
        segment.header.log_id for segments in directory.streams.values() for segment in segments
        if segment.header)
    return named.most_common(1)[0][0] if named else None


def _judge_stream(directory: Directory, stream: str) -> list[Judgement]:
    segments = directory.streams[stream]
    log_id = _log_id(directory)
    head = directory.head.get(stream)
    witness = _witness(directory, stream)
    judgements: list[Judgement] = []
    expected, ordinal, is_open = 1, 1, False
    last_ordinal = segments[-1].last_ordinal if segments else 0
    is_file_missing = head is not None and head.valid_end > 0 and head.ordinal > last_ordinal
    for index, segment in enumerate(segments):
        if segment.ordinal != ordinal:
            first = max(segment.header.first_number if segment.header else expected, expected)
            judgements.append(_missing(stream, ordinal, expected, first - 1))
            expected = first
        context = Context(expected, 0 if is_file_missing else witness, log_id)
        later = next((each for each in segments[index + 1:] if each.header), None)
        if later is not None and later.header is not None:
            before = later.header.predecessor
            if before is not None and before.ordinal == segment.ordinal:
                context.settled = before
            context.last, context.witness = later.header.first_number - 1, 0
        if head is not None and head.ordinal == segment.ordinal:
            context.head = head
        judgement = _judge(segment, context)
        judgements.append(judgement)
        expected = max(judgement.next_number, judgement.last_lost + 1)
        ordinal, is_open = segment.last_ordinal + 1, not judgement.is_closed
    if is_file_missing or (witness >= expected and not is_open):
        named = head.ordinal if is_file_missing and head is not None else ordinal
        judgements.append(_missing(stream, named, expected, witness))
    return judgements


def _witness(directory: Directory, stream: str) -> int:
    """The highest number that `HEAD` or the other stream knows to be durable."""
    head = directory.head.get(stream)
    witness = head.durable if head else 0
    for other, segments in directory.streams.items():
        if other == stream:
            continue
        for segment in reversed(segments):
            if segment.frames:
                highest = max(frame.other_next for frame in segment.frames)
                witness = max(witness, highest - 1)
                break
    return witness


def _missing(stream: str, ordinal: int, first: int, last: int) -> Judgement:
    name = FileName(f"{stream}/{ordinal:08}.g0.dbs", stream, ordinal, ordinal, 0)
    segment = Segment(name.path, stream, ordinal, ordinal, 0, b"")
    judgement = Judgement(segment, verdict=MISSING, next_number=max(first, last + 1))
    judgement.add(GONE, 0, first, last)
    return judgement


def _judge(segment: Segment, context: Context) -> Judgement:
    judgement = Judgement(segment, next_number=context.expected)
    if segment.generation > 0:
        return _judge_compacted(judgement)
    if segment.header is None:
        _without_header(judgement, context)
    else:
        _Walk(judgement, context).run()
    _compare(judgement, context)
    found = {finding.kind[0] for finding in judgement.findings}
    has_tail = any(segment.data[judgement.valid_end:])
    calm = "settled" if has_tail and not judgement.is_spare else "clean"
    judgement.verdict = next((verdict for verdict in WORST_FIRST if verdict in found), calm)
    judgement.findings.sort(key=lambda finding: finding.offset)
    return judgement


def _judge_compacted(judgement: Judgement) -> Judgement:
    """A compaction output: what is not there was dropped, so only its seal tells of a loss."""
    segment = judgement.segment
    judgement.counting = [
        frame for frame in segment.frames if frame.has_entries and not frame.is_echo]
    judgement.is_closed = any(frame.kind == CLOSING_MARK for frame in segment.frames)
    judgement.valid_end = len(segment.data)
    found = seal_of(segment)
    if found is not None:
        judgement.next_number = found[0].last + 1
    if not is_whole(segment):
        judgement.verdict = DAMAGED
    return judgement


def _without_header(judgement: Judgement, context: Context) -> None:
    """A file of which nothing can be read without the header's salt."""
    durable = max(context.witness, context.last or 0)
    if context.settled is not None:
        if context.settled.valid_end > 0:
            judgement.add(HEADER, 0, context.expected, durable)
    elif durable >= context.expected:
        judgement.add(HEADER, 0, context.expected, durable)
    elif context.head is not None and context.head.valid_end > 0:
        judgement.add(HEADER, 0)
    elif judgement.segment.is_spare:
        judgement.is_spare = context.last is None
    elif context.last is None:
        judgement.add(TAIL, 0)


def _compare(judgement: Judgement, context: Context) -> None:
    """A file that is as it was when it was settled has nothing new to be found."""
    if context.last is not None:
        judgement.findings = [each for each in judgement.findings if each.kind is not TAIL]
    settled, data = context.settled, judgement.segment.data
    if settled is None or not settled.is_settled:
        return
    kinds = [finding.kind for finding in judgement.findings]
    if len(data) != settled.size:
        if FILE_SIZE not in kinds:
            judgement.add(FILE_SIZE, min(len(data), settled.size))
    elif crc32c(data) == settled.checksum:
        judgement.findings = [each for each in judgement.findings if each.is_loss]
    elif not kinds:
        end = min(judgement.valid_end, len(data))
        strays = [offset for offset in stray_offsets(judgement.segment) if offset >= end]
        judgement.add(SETTLED_TAIL, strays[0] if strays else end)


class _Walk:
    """Follows the frame numbers of a file, and looks at every byte between its frames."""

    def __init__(self, judgement: Judgement, context: Context) -> None:
        self.judgement, self.context = judgement, context
        self.segment = judgement.segment
        assert self.segment.header is not None
        self.header = self.segment.header
        self.strays = stray_offsets(self.segment)
        self.limit = context.settled.valid_end if context.settled else LARGEST_NUMBER
        self.frames = [
            frame for frame in self.segment.frames
            if frame.offset < self.limit
            and (context.last is None or frame.next_number <= context.last + 1)]
        self.originals = {frame.number: frame for frame in self.frames if not frame.is_echo}
        self.echoes = {frame.number: frame for frame in self.frames if frame.is_echo}
        self.closing = [frame for frame in self.frames if frame.kind == CLOSING_MARK]
        self.durable = max(
            [context.witness, context.last or 0] + [frame.durable for frame in self.frames])
        judgement.is_closed = bool(self.closing)
        self.is_sealed = judgement.is_closed and (
            context.settled is not None or (context.head is not None and context.head.is_closed))
        self.synced_end = 0

    def run(self) -> None:
        """Judges the file."""
        judgement = self.judgement
        if self.header.log_id != self.context.log_id:
            judgement.add(FOREIGN, 40, judgement.next_number, self.durable)
            judgement.next_number = max(judgement.next_number, self.durable + 1)
            return
        # Behind damage numbers go on above all that were ever named.
        first = self.header.first_number
        before = self.header.predecessor
        ended = min(before.last if before else first - 1, first - 1)
        if ended >= judgement.next_number or first < judgement.next_number:
            judgement.add(GONE, 0, judgement.next_number, ended)
        judgement.next_number = self.header.first_number
        judgement.valid_end = min(FIRST_FRAME, self.limit)
        number: Optional[int] = 0
        highest = max((frame.number for frame in self.frames), default=-1)
        while number is not None and number <= highest:
            frame = self.originals.get(number) or self.echoes.get(number)
            if frame is not None and frame.first == judgement.next_number:
                self._take(frame)
                number += 1
            else:
                number = self._hole(number)
        self._check_end()
        self._check_bytes()

    @property
    def _place(self) -> int:
        """Where the next frame begins."""
        end = self.judgement.valid_end
        return -(-end // PAGE) * PAGE if self.header.is_echoed else end

    def _stray(self, begin: int, otherwise: int, end: Optional[int] = None) -> int:
        """The first stray byte from `begin` on and before `end`."""
        return next(
            (offset for offset in self.strays if offset >= begin and (end is None or offset < end)),
            otherwise)

    def _take(self, frame: Frame) -> None:
        judgement = self.judgement
        twin = self.echoes.get(frame.number)
        is_known = self.is_sealed or self.durable >= frame.next_number - 1
        has_both = frame.number in self.originals and twin is not None
        if self.header.is_echoed and frame.has_entries and is_known and not has_both:
            if frame.is_echo:
                place = self._place
                judgement.add(FRAME_COPY, self._stray(place, place, frame.offset))
            else:
                judgement.add(FRAME_COPY, self._stray(frame.end, -(-frame.end // PAGE) * PAGE))
        judgement.counting.append(frame)
        judgement.next_number = frame.next_number
        end = max(frame.end, twin.end if twin else 0)
        end = min(end, len(self.segment.data))
        judgement.valid_end = max(judgement.valid_end, end)
        if frame.has_entries and is_known:
            self.synced_end = max(self.synced_end, end)

    def _hole(self, number: int) -> Optional[int]:
        """Judges that a frame is missing; the number of the frame to go on with, if any."""
        judgement = self.judgement
        expected = judgement.next_number
        offset = self._stray(judgement.valid_end, self._place)
        later = min(
            (frame for frame in self.frames
             if frame.number > number and frame.first >= expected),
            key=lambda frame: frame.number, default=None)
        if later is not None and later.first == expected:
            was_synced = (
                self.is_sealed or self.context.settled is not None or self.durable >= expected)
            judgement.add(MARK if was_synced else TAIL, offset)
            return later.number
        if self.durable < expected:
            judgement.add(TAIL, offset)
            return None
        last = later.first - 1 if later else self.durable
        judgement.add(FRAME, offset, expected, last)
        judgement.next_number = last + 1
        return later.number if later else None

    def _check_end(self) -> None:
        judgement, size = self.judgement, len(self.segment.data)
        if self.durable >= judgement.next_number and not judgement.is_closed:
            judgement.add(GONE, judgement.valid_end, judgement.next_number, self.durable)
        kinds = [finding.kind for finding in judgement.findings]
        if self.closing:
            last = max(self.closing, key=lambda frame: frame.offset)
            end = last.offset + MARK_SIZE
            if len(self.closing) < 2:
                place = self._stray(last.end, -(-last.end // PAGE) * PAGE)
                if not self.is_sealed:
                    judgement.add(TAIL, place)
                elif MARK not in kinds:
                    judgement.add(MARK, place)
            elif size != end:
                judgement.add(FILE_SIZE if self.is_sealed else TAIL, min(end, size))
        settled, head = self.context.settled, self.context.head
        named = max(settled.valid_end if settled else 0, head.valid_end if head else 0)
        kinds = [finding.kind for finding in judgement.findings]
        if size < named:
            judgement.add(FILE_SIZE, size)
        elif self._place < named and MARK not in kinds and not any(
            finding.is_loss for finding in judgement.findings
        ):
            judgement.add(MARK, judgement.valid_end)

    def _check_bytes(self) -> None:
        """Judges the copies of the header, and what is neither in a frame nor zero."""
        judgement, context = self.judgement, self.context
        if context.settled is not None:
            self.synced_end = context.settled.valid_end
        elif self.is_sealed:
            self.synced_end = len(self.segment.data)
        else:
            if self.durable >= self.header.first_number and judgement.counting:
                self.synced_end = max(self.synced_end, FIRST_FRAME)
            if context.head is not None:
                self.synced_end = max(self.synced_end, context.head.valid_end)
        for offset in self.segment.bad_headers:
            judgement.add(HEADER_COPY if self.synced_end > 0 else TAIL, offset)
        for offset in self.strays:
            if not self._is_explained(offset):
                judgement.add(PADDING if offset < self.synced_end else TAIL, offset)

    def _is_explained(self, offset: int) -> bool:
        """Whether a finding before the byte, with no frame between, accounts for it."""
        for finding in self.judgement.findings:
            start = finding.offset
            if start > offset or finding.kind in (SETTLED_TAIL, FILE_SIZE):
                continue
            if finding.kind is HEADER_COPY:
                if offset < start + PAGE:
                    return True
                continue
            if finding.kind is TAIL and offset < self.synced_end:
                continue
            if not any(start < frame.offset < offset for frame in self.segment.frames):
                return True
        return False
