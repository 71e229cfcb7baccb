#!/usr/bin/env python3
"""Every C++ file is as clang-format 14 lays it out; --fix lays it out. Other versions differ in details, so only 14 may judge."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

SUFFIXES = (".h", ".hpp", ".cpp", ".inc")


def formatter():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name) and re.search(r"version 14\.", subprocess.run([name, "--version"], capture_output=True, text=True).stdout):
            return name
    return None


def unformatted(program, root, names):
    """The first difference of each file that is laid out otherwise."""

    def judge(batch):
        answer = subprocess.run([program, "--dry-run", "--ferror-limit=1", f"--style=file:{tree.ROOT / '.clang-format'}", *batch],
                                cwd=root, capture_output=True, text=True)
        return [line.split(": warning")[0] + ": not as clang-format lays it out (./dev fmt)"
                for line in answer.stderr.splitlines() if ": warning: code should be clang-formatted" in line]

    batches = [names[i:i + 8] for i in range(0, len(names), 8)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for lines in pool.map(judge, batches) for line in lines]


def self_test(program):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "bad.cpp").write_text("int  f( int x ){return x;}\n")
        (root / "good.cpp").write_text("int f(int x) { return x; }\n")
        found = unformatted(program, root, ["bad.cpp", "good.cpp"])
        assert len(found) == 1 and found[0].startswith("bad.cpp:1:"), found
    print("check_format: a badly laid out file named, a good one passed")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--fix", action="store_true")
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    program = formatter()
    if program is None:
        print("clang-format 14 is not here (Debian: clang-format-14)", file=sys.stderr)
        return 1
    if options.self_test:
        self_test(program)
        return 0
    names = tree.files("votive", "apps", "tests", "bench", "examples", suffixes=SUFFIXES)
    if options.fix:
        for i in range(0, len(names), 16):
            subprocess.run([program, "-i", "--style=file", *names[i:i + 16]], cwd=tree.ROOT, check=True)
        print(f"  {len(names)} files laid out")
        return 0
    found = unformatted(program, tree.ROOT, names)
    print("\n".join(found) if found else f"  {len(names)} files, as laid out by clang-format 14")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
