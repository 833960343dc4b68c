"""Damages logs at random, and compares what both readers make of them.

`daybook` lifts entries out of damaged frames, which this reader does not. So of a damaged log they
need not say the same, but: what counts here must count there, word for word; what counts there and
not here must be lost here; and both must agree whether a file is whole.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

from .compare import lines_of, show_difference
from .directory import read_directory
from .dump import dump

PAGE = 4096
SECTOR = 512


def compare_damaged(
    daybook: Path, fixtures: Path, rounds: int, seed: int, is_exact: bool = False
) -> int:
    """Damages a fixture's log in each of `rounds`; the status is 0 if both readers always agree.

    If `is_exact`, each line must be the same.
    """
    logs = sorted(path.parent for path in fixtures.glob("*/*/log/FORMAT"))
    differing = 0
    for number in range(seed, seed + rounds):
        chance = random.Random(number)
        log = chance.choice(logs)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "log"
            shutil.copytree(log, copy)
            what = _damage(copy, chance)
            command = [str(daybook), "dump", str(copy), "--json"]
            result = subprocess.run(command, capture_output=True, check=False)
            if result.returncode not in (0, 10, 12):
                # No log any more, or one that seems to be of a newer version.
                continue
            expected = lines_of(result.stdout.decode("utf-8"))
            found = list(dump(read_directory(copy)))
        name = f"seed {number}, {log.parent.name}, {what}"
        if is_exact:
            differing += show_difference(name, expected, found)
            continue
        problems = _disagreements(expected, found)
        differing += bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    print(f"{rounds} damaged logs compared, seeds from {seed}, {differing} differ")
    return 1 if differing else 0


def _disagreements(theirs: list[str], ours: list[str]) -> list[str]:
    """Where two dumps contradict each other."""
    their_verdicts, their_entries = _facts(theirs)
    our_verdicts, our_entries = _facts(ours)
    problems = []
    for file in sorted(their_verdicts.keys() | our_verdicts.keys()):
        pair = (their_verdicts.get(file, "clean"), our_verdicts.get(file, "clean"))
        if pair[0] != pair[1] and pair != ("healed", "damaged"):
            problems.append(f"{file} is {pair[0]} to daybook and {pair[1]} to the reader")
    if not our_entries <= their_entries:
        problems.append("daybook lacks " + min(our_entries - their_entries)[:200])
    is_lost = any(verdict in ("damaged", "missing") for verdict in our_verdicts.values())
    if their_entries > our_entries and not is_lost:
        problems.append("the reader lacks " + min(their_entries - our_entries)[:200])
    return problems


def _facts(lines: list[str]) -> tuple[dict[str, str], set[str]]:
    """The verdict of each file, and the lines of the entries."""
    verdicts, entries = {}, set()
    for line in lines:
        if line.startswith('{"type":"segment"'):
            facts = json.loads(line)
            verdicts[facts["file"]] = facts["verdict"]
        elif line.startswith('{"type":"entry"'):
            entries.add(line)
    return verdicts, entries


def _damage(log: Path, chance: random.Random) -> str:
    """Damages one file of a log, and says how."""
    files = sorted(path for path in log.rglob("*.dbs")) + [log / "HEAD"]
    file = chance.choice([path for path in files if path.is_file()])
    name = str(file.relative_to(log))
    data = bytearray(file.read_bytes())
    kind = chance.choice(("flip", "flip", "zero sector", "zero page", "noise", "cut", "remove"))
    if kind == "remove":
        file.unlink()
        return f"{name} removed"
    # Most of a file is padding; where bytes are, there is more to be hit.
    used = [place for place in range(0, len(data), 64) if any(data[place:place + 64])]
    place = min(len(data) - 1, chance.choice(used) + chance.randrange(64))
    if chance.random() < 0.2:
        place = chance.randrange(len(data))
    if kind == "flip":
        data[place] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del data[place:]
    else:
        size = PAGE if kind == "zero page" else SECTOR
        start = place // size * size
        end = min(start + size, len(data))
        data[start:end] = chance.randbytes(end - start) if kind == "noise" else bytes(end - start)
        place = start
    file.write_bytes(bytes(data))
    return f"{kind} at {place} of {name}"
