#!/usr/bin/env python3
"""Every reported fault in tests/ops/user_reports.txt names tests that exist, and every row of the contract's table of telling inputs has one."""

import re
import sys

import tree

REPORTS = tree.ROOT / "tests/ops/user_reports.txt"
ROWS = 53  # of CONTRACT.md section 10


def test_names(texts):
    return {name for text in texts for name in re.findall(r"TEST(?:_P|_F)?\(\s*\w+,\s*(\w+)\s*\)", text)}


def faults(reports, names, rows=ROWS):
    wrong, tested, untested = [], 0, 0
    for number, line in enumerate(reports.splitlines(), 1):
        if not line.strip() or line.startswith("# "):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3:
            wrong.append(f"{REPORTS.name}:{number}: not 'ids | what | tests'")
        elif parts[2].startswith("- "):
            untested += 1
        else:
            tested += 1
            wrong += [f"{REPORTS.name}:{number}: no test is called {name}" for name in parts[2].split(", ") if name not in names]
    numbers = {int(n) for name in names if name.startswith("Row") for n in re.findall(r"(?<=Row)\d+|(?<=And)\d+", name)}
    wrong += [f"CONTRACT.md section 10: row {row} has no test named Row{row}…" for row in range(1, rows + 1) if row not in numbers]
    return wrong, tested, untested


def self_test():
    names = test_names(["TEST_P(Reports, N1Holds) {}", "TEST(Telling, Row1And2Hold) {}"])
    assert faults("# list\n#1 | fault | N1Holds\n#2 | fault | - a file\n", names, 2) == ([], 1, 1)
    assert len(faults("#1 | fault | N9Gone\n#2 | fault\n", names, 3)[0]) == 3


def main():
    self_test()
    texts = [path.read_text(encoding="utf-8") for path in sorted((tree.ROOT / "tests").rglob("*_test.cpp"))]
    wrong, tested, untested = faults(REPORTS.read_text(encoding="utf-8"), test_names(texts))
    for line in wrong:
        print(f"  {line}")
    print(f"  {tested} reported faults have a test of that id, {untested} say why they have none; {ROWS} telling inputs")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
