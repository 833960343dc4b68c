"""Compares what this reader makes of logs with what `daybook` makes of them."""

from __future__ import annotations

import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Optional

from .directory import Directory, read_directory
from .dump import dump
from .history import anchor, histories

MOST_SHOWN = 8
CONTEXT = 40
EXCERPT = 160


def compare_fixtures(fixtures: Path) -> int:
    """Compares every case under `fixtures` with its `dump.jsonl`; the status is 0 if all agree."""
    cases = sorted(path.parent for path in fixtures.glob("*/*/dump.jsonl"))
    if not cases:
        sys.stderr.write(f"{fixtures}: no case with a dump.jsonl. Give the directory Fixtures.\n")
        return 1
    differing = 0
    lines = 0
    for case in cases:
        expected = lines_of((case / "dump.jsonl").read_text(encoding="utf-8"))
        directory = read_directory(case / "log")
        found = list(dump(directory))
        lines += len(found)
        differing += show_difference(str(case.relative_to(fixtures)), expected, found)
        differing += show_problems(directory)
    print(f"{len(cases)} fixtures compared, {lines} lines, {differing} differ")
    return 1 if differing else 0


def compare_programs(daybook: Path, root: Path) -> int:
    """Compares every log under `root` with `daybook dump --json`; the status is 0 if all agree."""
    logs = sorted(path.parent for path in root.rglob("FORMAT"))
    if not logs:
        sys.stderr.write(f"{root}: no log in it.\n")
        return 1
    differing = 0
    lines = 0
    for log in logs:
        command = [str(daybook), "dump", str(log), "--json"]
        result = subprocess.run(command, capture_output=True, check=False)
        expected = lines_of(result.stdout.decode("utf-8"))
        directory = read_directory(log)
        found = list(dump(directory))
        lines += len(found)
        name = str(log.relative_to(root))
        differing += show_difference(name, expected, found)
        command = [str(daybook), "anchor", str(log)]
        told = subprocess.run(command, capture_output=True, check=False)
        # Of a damaged log there is none.
        if told.returncode == 0:
            differing += show_difference(
                f"the anchor of {name}", lines_of(told.stdout.decode("utf-8")),
                lines_of(anchor(directory) or ""))
        differing += show_problems(directory)
    print(f"{len(logs)} logs compared with daybook dump, {lines} lines, {differing} differ")
    return 1 if differing else 0


def lines_of(text: str) -> list[str]:
    """The lines of a text; `splitlines` would take other characters than line feeds for ends."""
    return text.rstrip("\n").split("\n")


def show_problems(directory: Directory) -> bool:
    """Prints what is wrong with seals, chain and snapshots, and says whether anything is."""
    problems = [
        problem for history in histories(directory).values() for problem in history.problems]
    print("".join(f"{directory.path}: {problem}\n" for problem in problems), end="")
    return bool(problems)


def show_difference(name: str, expected: list[str], found: list[str]) -> bool:
    """Prints where two dumps differ, and says whether they do."""
    differences = 0
    for number, (theirs, ours) in enumerate(zip_longest(expected, found), start=1):
        if theirs == ours:
            continue
        differences += 1
        if differences > MOST_SHOWN:
            continue
        start = max(0, _common_prefix(theirs or "", ours or "") - CONTEXT)
        print(f"{name}, line {number}, from column {start + 1}:")
        print(f"  daybook: {_excerpt(theirs, start)}")
        print(f"  reader:  {_excerpt(ours, start)}")
    if differences > MOST_SHOWN:
        print(f"{name}: and {differences - MOST_SHOWN} more lines differ")
    return differences > 0


def _common_prefix(left: str, right: str) -> int:
    pairs = enumerate(zip(left, right))
    return next((index for index, (a, b) in pairs if a != b), min(len(left), len(right)))


def _excerpt(line: Optional[str], start: int) -> str:
    if line is None:
        return "(no such line)"
    return line[start:start + EXCERPT] + ("..." if len(line) > start + EXCERPT else "")
