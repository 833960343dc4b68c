"""Links every segment of a log to the one before it, and tells where its history stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from .chain import NO_CHAIN, Link, Proof, anchor_text, leaf, merkle_root, parse_proof
from .directory import Directory
from .frame import PROOF, RawEntry
from .layout import Unreadable
from .seals import is_whole, seal_of, seal_problems
from .verdict import Judgement, judge


@dataclass
class History:
    """The chain of one stream, as it was computed anew."""

    links: list[Link] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_chained: bool = False
    expected: int = 1

    @property
    def value(self) -> bytes:
        """The chain value behind the last segment."""
        return self.links[-1].value if self.links else NO_CHAIN


def histories(directory: Directory) -> dict[str, History]:
    """The history of every stream that has a segment."""
    found = {}
    for stream, judgements in judge(directory).items():
        history = History()
        for judgement in judgements:
            _add(history, judgement)
        found[stream] = history
    for snapshot in directory.snapshots:
        if not is_whole(snapshot):
            found["feed"].problems.append(f"{snapshot.name}: not whole")
    return found


def anchor(directory: Directory) -> Optional[str]:
    """The text of an anchor at the log's end; None for a log without a segment."""
    found = histories(directory)
    links = [history.links[-1] for history in found.values() if history.links]
    if not links:
        return None
    return anchor_text(links[0].log_id, (
        (link.stream, link.ordinal, link.first, link.last, link.value, link.before)
        for link in links))


def _add(history: History, judgement: Judgement) -> None:
    segment = judgement.segment
    history.problems += seal_problems(segment)
    if segment.header is None:
        return
    before = segment.header.predecessor.chain if segment.header.predecessor else NO_CHAIN
    if segment.generation > 0:
        _add_compacted(history, judgement)
        return
    _check_before(history, judgement, before)
    entries = [entry for frame in judgement.counting for entry in frame.entries]
    root = merkle_root([leaf(entry.number, entry.kind, entry.data) for entry in entries])
    first = segment.header.first_number
    last = max((entry.number for entry in entries), default=first - 1)
    link = Link(
        segment.header.log_id, segment.stream, segment.ordinal, first, last, root, before)
    history.links.append(link)
    history.expected = last + 1
    found = seal_of(segment)
    if found is None:
        return
    history.is_chained = True
    seal, _ = found
    told = (seal.count, seal.first, seal.last, seal.root, seal.chain)
    if told != (len(entries), first, last, root, link.value):
        history.problems.append(f"{segment.name}: the seal says something else than the entries")


def _check_before(history: History, judgement: Judgement, before: bytes) -> None:
    """Holds the value that a header names against the one that was computed."""
    segment = judgement.segment
    if before == NO_CHAIN and not history.is_chained:
        return
    if history.links and before != history.value:
        history.problems.append(f"{segment.name}: the chain is broken before it")
    history.is_chained = True


def _add_compacted(history: History, judgement: Judgement) -> None:
    """Each proof with the kept entries of its segment gives that segment's link."""
    segment = judgement.segment
    assert segment.header is not None
    entries = [entry for frame in judgement.counting for entry in frame.entries]
    try:
        proofs = [parse_proof(frame.payload) for frame in segment.frames if frame.kind == PROOF]
    except (Unreadable, KeyError, TypeError, ValueError):
        proofs = []
    before = proofs[0].before if proofs else None
    if before is None:
        history.problems.append(f"{segment.name}: no proof")
        return
    _check_before(history, judgement, before)
    for proof in proofs:
        kept = [entry for entry in entries if proof.first <= entry.number <= proof.last]
        entries = [entry for entry in entries if entry not in kept]
        if not _is_proven(proof, kept):
            history.problems.append(
                f"{segment.name}: the entries of segment {proof.ordinal} are not those of its root")
        link = Link(
            segment.header.log_id, segment.stream, proof.ordinal, proof.first, proof.last,
            proof.root, before)
        history.links.append(link)
        before = link.value
    history.is_chained = True
    found = seal_of(segment)
    if entries or found is None or found[0].chain != before:
        history.problems.append(f"{segment.name}: the seal names another chain value")


def _is_proven(proof: Proof, kept: list[RawEntry]) -> bool:
    return proof.is_made_of(leaf(entry.number, entry.kind, entry.data) for entry in kept)
