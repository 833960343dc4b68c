"""Entries: what their bytes say, in the order of keys that a dump has."""

from __future__ import annotations

from typing import Any, Callable

from .chain import anchor_text
from .layout import Cursor, Unreadable, clock_milliseconds, date_text, identifier_text
from .values import Fact, Row, decode

STRATEGIES = {1: "lazy", 2: "queued", 3: "online"}
ACTIONS = {1: "create", 2: "patch", 3: "replace", 4: "delete"}
NAMED_ACTION = 5
EXTENTS = {0: "delta", 1: "row", 2: "removal"}
VERDICTS = {1: "accepted", 2: "conflict", 3: "refused", 4: "tooOld"}
DECISIONS = {1: "discarded", 2: "retried", 3: "resent", 4: "released", 5: "dropped"}
REASONS = {1: "verdict", 2: "deadLetter", 3: "withdrawn", 4: "failed"}
SKIPPABLE = 0x80
NO_IDENTIFIER = identifier_text(bytes(16))


def describe(kind: int, data: bytes) -> tuple[str, dict[str, Fact]]:
    """The name of an entry's kind, and the members that a dump shows of it."""
    if kind not in READERS:
        if kind & SKIPPABLE:
            return kind_name(kind), {"skipped": True}
        raise Unreadable(f"entry kind {kind}")
    name, read = READERS[kind]
    return name, {name: read(data)}


def kind_name(kind: int) -> str:
    """The name of an entry's kind, known or not."""
    return READERS[kind][0] if kind in READERS else f"unknown {kind}"


def version_text(number: int, mark: int) -> str:
    """A version, or a position in a scope: its number and its mark."""
    return f"{number}-{mark:016x}"


def _named(names: dict[int, str], value: int) -> str:
    if value not in names:
        raise Unreadable(f"{value} is not one of {sorted(names)}")
    return names[value]


def _action(value: int, name: str) -> str:
    if value == NAMED_ACTION:
        return name
    return _named(ACTIONS, value)


def _optional(identifier: str) -> Fact:
    return None if identifier == NO_IDENTIFIER else identifier


def _fields(data: bytes) -> dict[str, Fact]:
    """The fields set and unset at the end of an operation or change."""
    value = decode(data)
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], dict):
        raise Unreadable("no fields set and unset")
    return {"fields": Row(value[0]), "unset": value[1]}


def _operation(data: bytes) -> dict[str, Fact]:
    cursor = Cursor(data)
    op, incarnation, number = cursor.identifier(), cursor.identifier(), cursor.number(8)
    clock, seen, schema = cursor.number(8), cursor.number(8), cursor.number(4)
    strategy, action, base_kind = cursor.number(1), cursor.number(1), cursor.number(1)
    cursor.zeros(1)
    base = _base(base_kind, cursor.take(16))
    transaction = _transaction(cursor)
    supersedes = cursor.identifier()
    sizes = [cursor.number(2) for _ in range(6)]
    account, device, collection, record, scope, name = (cursor.text(size) for size in sizes)
    return {
        "op": op, "incarnation": incarnation, "number": number,
        "deviceTime": date_text(clock_milliseconds(clock)), "clock": clock, "seen": seen,
        "schemaVersion": schema, "account": account, "device": device,
        "record": f"{collection}/{record}", "scope": scope,
        "strategy": _named(STRATEGIES, strategy), "action": _action(action, name), "base": base,
        "transaction": transaction, "supersedes": _optional(supersedes),
        **_fields(cursor.rest()),
    }


def _transaction(cursor: Cursor) -> Fact:
    identifier, index, count = cursor.identifier(), cursor.number(2), cursor.number(2)
    if identifier == NO_IDENTIFIER:
        return None
    return {"id": identifier, "index": index, "count": count}


def _base(kind: int, data: bytes) -> Fact:
    if kind == 0:
        return None
    if kind == 1:
        cursor = Cursor(data)
        return {"version": version_text(cursor.number(8), cursor.number(8))}
    if kind == 2:
        return {"operation": identifier_text(data)}
    raise Unreadable(f"base kind {kind}")


def _change(data: bytes) -> dict[str, Fact]:
    cursor = Cursor(data)
    op, sequence = cursor.identifier(), cursor.number(8)
    version = version_text(cursor.number(8), cursor.number(8))
    seen, clock, server_time = cursor.number(8), cursor.number(8), cursor.signed(8)
    action, extent, flags = cursor.number(1), cursor.number(1), cursor.number(1)
    cursor.zeros(1)
    sizes = [cursor.number(2) for _ in range(6)]
    scope, collection, record, account, device, name = (cursor.text(size) for size in sizes)
    return {
        "op": op, "scope": scope, "sequence": sequence, "version": version, "seen": seen,
        "deviceTime": date_text(clock_milliseconds(clock)), "serverTime": date_text(server_time),
        "account": account, "device": device, "record": f"{collection}/{record}",
        "action": _action(action, name), "extent": _named(EXTENTS, extent),
        "superfluous": bool(flags & 1), **_fields(cursor.rest()),
    }


def _settlement(data: bytes) -> dict[str, Fact]:
    cursor = Cursor(data)
    op, time, verdict = cursor.identifier(), cursor.signed(8), cursor.number(1)
    cursor.zeros(7)
    facts = _map(cursor.rest())
    head: dict[str, Fact] = {
        "op": op, "serverTime": date_text(time), "verdict": _named(VERDICTS, verdict)}
    if verdict == 1:
        version = version_text(*facts["version"])
        return {
            **head, "scope": facts["scope"], "sequence": facts["sequence"], "version": version,
            "assigned": Row(facts.get("assigned", {}))}
    version, row = facts.get("version"), facts.get("row")
    return {
        **head, "code": facts["code"], "message": facts["message"],
        "currentVersion": version_text(*version) if version else None, "currentRow": Row(row)}


def _map(data: bytes) -> dict[str, Any]:
    value = decode(data)
    if not isinstance(value, dict):
        raise Unreadable("no map")
    return value


def _attempt(data: bytes) -> dict[str, Fact]:
    return {"operations": [identifier_text(op) for op in _map(data)["operations"]]}


def _decision(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {
        "decision": _named(DECISIONS, facts["kind"]), "root": identifier_text(facts["root"]),
        "time": date_text(facts["time"])}


def _departure(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    more = {key: facts[key] for key in ("status", "message") if key in facts}
    return {
        "root": identifier_text(facts["root"]),
        "members": [identifier_text(op) for op in facts["members"]],
        "reason": _named(REASONS, facts["reason"]), **more}


def _binding(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {
        "serverID": identifier_text(facts["server"]),
        "incarnation": identifier_text(facts["incarnation"])}


def _gap(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {
        "file": facts["file"], "offset": facts["offset"], "finding": facts["kind"],
        "lost": facts.get("lost"), "cut": facts.get("cut"), "evidence": facts["evidence"].hex(),
        "quarantine": facts.get("quarantine"), "time": date_text(facts["time"])}


def _restored(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    until = facts.get("until")
    return {
        "from": identifier_text(facts["from"]), "time": date_text(facts["time"]),
        "until": f"{until[0]}:{until[1]}" if until else None, "outbox": facts["outbox"]}


def _cursor(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    positions = sorted(facts["scopes"].items(), key=lambda item: item[0].encode())
    scopes = {name: version_text(*position) for name, position in positions}
    return {"epoch": identifier_text(facts["epoch"]), "scopes": scopes}


def _bootstrap_begin(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {
        "scope": facts["scope"], "epoch": identifier_text(facts["epoch"]),
        "position": version_text(facts["sequence"], facts["mark"])}


def _bootstrap_page(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {"scope": facts["scope"], "after": f"{facts['collection']}/{facts['id']}"}


def _bootstrap_end(data: bytes) -> dict[str, Fact]:
    return {"scope": _map(data)["scope"]}


def _held_row(data: bytes) -> dict[str, Fact]:
    cursor = Cursor(data)
    version = version_text(cursor.number(8), cursor.number(8))
    flags = cursor.number(1)
    cursor.zeros(1)
    sizes = [cursor.number(2) for _ in range(3)]
    scope, collection, record = (cursor.text(size) for size in sizes)
    row = cursor.rest()
    return {
        "record": f"{collection}/{record}", "scope": scope, "version": version,
        "beingBuilt": bool(flags & 2), "row": None if flags & 1 else Row(_map(row))}


def _scope_base(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    bootstrap = facts.get("bootstrap")
    return {
        "scope": facts.get("scope"),
        "epoch": identifier_text(facts["epoch"]) if "epoch" in facts else None,
        "position": version_text(*facts["position"]) if "position" in facts else None,
        "holes": [_record(key) for key in facts.get("holes", [])],
        "bootstrap": {
            "epoch": identifier_text(bootstrap["epoch"]),
            "position": version_text(*bootstrap["position"]),
            "after": _record(bootstrap["after"]) if "after" in bootstrap else None,
        } if bootstrap else None}


def _record(key: list[str]) -> str:
    collection, identifier = key
    return f"{collection}/{identifier}"


def _feed_settlement(data: bytes) -> dict[str, Fact]:
    cursor = Cursor(data)
    return {"after": cursor.number(8), "settlement": _settlement(cursor.rest())}


def _verdict(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {
        "incarnation": identifier_text(facts["incarnation"]), "number": facts["number"],
        "digest": facts["digest"].hex() or None, "settlement": _settlement(facts["settlement"])}


def _anchor_text(anchor: dict) -> str:
    lines = ["daybook anchor 1", f"log {identifier_text(anchor['log'])}"]
    for stream, ordinal, first, number, chain, before in anchor["streams"]:
        lines.append(f"{stream} {ordinal} {first} {number} {chain.hex()}")
        lines.append(f"{stream} boundary {ordinal - 1} {first - 1} {before.hex()}")
    return "".join(line + "\n" for line in lines)


def _incarnation(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    told = {"anchor": _anchor_text(facts["anchor"])} if "anchor" in facts else {}
    return {
        "incarnation": identifier_text(facts["incarnation"]), "account": facts["account"],
        "device": facts["device"], "watermark": facts["watermark"],
        "lastContact": date_text(facts["contact"]), **told}


def _history(data: bytes) -> dict[str, Fact]:
    facts = _map(data)
    return {"serverID": identifier_text(facts["server"]), "epoch": identifier_text(facts["epoch"])}


READERS: dict[int, tuple[str, Callable[[bytes], dict[str, Fact]]]] = {
    1: ("operation", _operation),
    2: ("settlement", _settlement),
    3: ("attempt", _attempt),
    4: ("decision", _decision),
    5: ("departure", _departure),
    6: ("binding", _binding),
    7: ("gap", _gap),
    8: ("restored", _restored),
    16: ("change", _change),
    17: ("cursor", _cursor),
    18: ("bootstrapBegin", _bootstrap_begin),
    19: ("bootstrapPage", _bootstrap_page),
    20: ("bootstrapEnd", _bootstrap_end),
    21: ("heldRow", _held_row),
    22: ("scopeBase", _scope_base),
    23: ("feedSettlement", _feed_settlement),
    32: ("verdict", _verdict),
    33: ("incarnation", _incarnation),
    34: ("history", _history),
}
