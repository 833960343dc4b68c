"""The command line: `python3 -m reader COMMAND ...`, as the usage says."""

from __future__ import annotations

import sys
from pathlib import Path

from .compare import compare_fixtures, compare_programs
from .damage import compare_damaged
from .directory import read_directory
from .dump import dump
from .history import anchor, histories

USAGE = """usage: python3 -m reader dump DIR          the log as JSON Lines
       python3 -m reader verify DIR        seals, chain, proofs and snapshots, computed anew
       python3 -m reader anchor DIR        where the log's history stands
       python3 -m reader compare FIXTURES  every fixture against its expected dump
       python3 -m reader same DAYBOOK DIR  every log in DIR against what the program DAYBOOK dumps
       python3 -m reader damage DAYBOOK FIXTURES ROUNDS SEED [exact]
                                           the same of fixtures that are damaged at random
"""


def main(arguments: list[str]) -> int:
    """Runs one command; the status is 0 when all is as it should be."""
    if len(arguments) == 2 and arguments[0] == "dump":
        for line in dump(read_directory(Path(arguments[1]))):
            print(line)
        return 0
    if len(arguments) == 2 and arguments[0] == "verify":
        found = histories(read_directory(Path(arguments[1])))
        problems = [problem for history in found.values() for problem in history.problems]
        print("\n".join(problems) if problems else "Whole.")
        return 1 if problems else 0
    if len(arguments) == 2 and arguments[0] == "anchor":
        print(anchor(read_directory(Path(arguments[1]))) or "No segment.", end="")
        return 0
    if len(arguments) == 2 and arguments[0] == "compare":
        return compare_fixtures(Path(arguments[1]))
    if len(arguments) == 3 and arguments[0] == "same":
        return compare_programs(Path(arguments[1]), Path(arguments[2]))
    if len(arguments) in (5, 6) and arguments[0] == "damage":
        rounds, seed = int(arguments[3]), int(arguments[4])
        is_exact = arguments[5:] == ["exact"]
        return compare_damaged(Path(arguments[1]), Path(arguments[2]), rounds, seed, is_exact)
    sys.stderr.write(USAGE)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
