"""The JSON Lines of `daybook dump --json`, by the section "Dump"."""

from __future__ import annotations

from typing import Iterator

from .directory import Directory
from .entries import describe, kind_name
from .frame import CODEC_NAMES, KIND_NAMES, Frame
from .layout import Unreadable, clock_milliseconds, date_text
from .values import Fact, json_text
from .verdict import Judgement, judge


def dump(directory: Directory) -> Iterator[str]:
    """The lines of a log's dump, without their line feeds."""
    counts = {"segments": 0, "frames": 0, "entries": 0}
    for judgements in judge(directory).values():
        for judgement in judgements:
            counts["segments"] += 1
            yield json_text(_segment(judgement))
            counting = {frame.offset for frame in judgement.counting if frame.has_entries}
            for frame in judgement.segment.frames:
                counts["frames"] += 1
                does_count = frame.offset in counting
                yield json_text(_frame(judgement, frame, does_count))
                if does_count:
                    counts["entries"] += frame.count
                    yield from _entries(judgement, frame)
    yield json_text(counts)


def _segment(judgement: Judgement) -> dict[str, Fact]:
    segment, header = judgement.segment, judgement.segment.header
    before = header.predecessor if header else None
    return {
        "type": "segment",
        "file": segment.name,
        "stream": segment.stream,
        "ordinal": segment.ordinal,
        "verdict": judgement.verdict,
        "sealed": judgement.is_closed,
        "spare": judgement.is_spare,
        "bytes": len(segment.data),
        "validEnd": judgement.valid_end,
        "logID": header.log_id if header else None,
        "incarnation": header.incarnation if header else None,
        "account": header.account if header else None,
        "generation": header.generation if header else None,
        "first": header.first_number if header else None,
        "clock": date_text(clock_milliseconds(header.clock)) if header else None,
        "echoed": header.is_echoed if header else None,
        "predecessor": {
            "ordinal": before.ordinal, "validEnd": before.valid_end, "last": before.last,
        } if before else None,
        "findings": [
            f"{segment.name}, byte {finding.offset}: {finding.words}"
            for finding in judgement.findings
        ],
    }


def _frame(judgement: Judgement, frame: Frame, does_count: bool) -> dict[str, Fact]:
    return {
        "type": "frame",
        "file": judgement.segment.name,
        "offset": frame.offset,
        "kind": KIND_NAMES.get(frame.kind, "unknown"),
        "codec": CODEC_NAMES[frame.codec],
        "frame": frame.number,
        "first": frame.first,
        "count": frame.count,
        "durable": frame.durable,
        "otherNext": frame.other_next,
        "stored": frame.stored,
        "raw": frame.raw,
        "clock": date_text(clock_milliseconds(frame.clock)),
        "counts": does_count,
    }


def _entries(judgement: Judgement, frame: Frame) -> Iterator[str]:
    stream = judgement.segment.stream
    for entry in frame.entries:
        try:
            kind, members = describe(entry.kind, entry.data)
        except (Unreadable, KeyError, TypeError, ValueError):
            kind, members = kind_name(entry.kind), {"unreadable": True}
        yield json_text({
            "type": "entry",
            "position": f"{stream}:{entry.number}",
            "kind": kind,
            "file": judgement.segment.name,
            "offset": frame.offset,
            "bytes": len(entry.data),
            **members,
        })
