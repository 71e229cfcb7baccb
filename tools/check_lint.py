#!/usr/bin/env python3
"""clang-tidy over the library's sources; over kernels, tests, benchmarks and examples only the compiler that is in it, so that what g++ builds clang builds too.
A file is looked at again only when it or a header changed."""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

KERNELS = ("votive/cpu/", "votive/gpu/")
# No opinion but the compiler's own: clang-tidy wants one check that is not.
COMPILE = "--checks=-*,clang-diagnostic-*,misc-definitions-in-headers"


def linter():
    return next((name for name in ("clang-tidy-14", "clang-tidy") if shutil.which(name)), None)


def lint(program, folder, path, *more):
    """What clang-tidy says about one file: its warnings, or nothing."""
    answer = subprocess.run([program, "-p", str(folder), "--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-optimization-argument",
                             f"--config-file={tree.ROOT / '.clang-tidy'}", *more, str(path)], capture_output=True, text=True)
    said = [line for line in answer.stdout.splitlines() if re.search(r": (warning|error): ", line)]
    if answer.returncode and not said:
        said = [f"{path}:1: {(answer.stderr.strip() or 'clang-tidy failed').splitlines()[-1]}"]
    return said


def self_test(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sources = {"bad.cpp": "#include <string>\nint f(std::string s) { return static_cast<int>(s.size()); }\n", "good.cpp": "int f(int x) { return x; }\n",
                   "alone.cpp": "#include <utility>\nint f() { auto [a, b] = std::pair(1, 2); return [&] { return a + b; }(); }\n"}
        for file, text in sources.items():
            (folder / file).write_text(text)
        (folder / "compile_commands.json").write_text(json.dumps(
            [{"directory": name, "file": file, "command": f"g++ -std=c++20 -c {file}"} for file in sources]))
        assert lint(program, folder, folder / "good.cpp") == []
        assert any("bad.cpp:2" in line for line in lint(program, folder, folder / "bad.cpp"))
        assert lint(program, folder, folder / "bad.cpp", COMPILE) == []
        assert any("alone.cpp:2" in line for line in lint(program, folder, folder / "alone.cpp", COMPILE))
    print("check_lint: a string copied for nothing named, a good file passed, what g++ alone builds found")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", nargs="?", default="build/release")
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    options = arguments.parse_args()
    program = linter()
    if program is None:
        print("clang-tidy is not here (Debian: clang-tidy-14)", file=sys.stderr)
        return 1
    if options.self_test:
        self_test(program)
        return 0
    folder = pathlib.Path(options.folder)
    # A kernel is compiled once per instruction set: the last, the widest, stands for all.
    commands = {pathlib.Path(entry["file"]).resolve(): entry for entry in json.loads((folder / "compile_commands.json").read_text())}
    stamps = folder / "lint"
    stamps.mkdir(exist_ok=True)
    (stamps / "compile_commands.json").write_text(json.dumps(list(commands.values())))
    names = [n for n in tree.files("votive", "apps", "tests", "bench", "examples", suffixes=(".cpp",)) if (tree.ROOT / n).resolve() in commands]
    common = hashlib.sha256((tree.ROOT / ".clang-tidy").read_bytes())
    for header in tree.files("votive", "apps", "tests", "bench", "examples", suffixes=(".h",)):
        common.update((tree.ROOT / header).read_bytes())

    def judge(name):
        more = () if name.startswith(("votive/", "apps/")) and not name.startswith(KERNELS) else (COMPILE,)
        stamp = stamps / hashlib.sha256(common.digest() + name.encode() + (tree.ROOT / name).read_bytes()).hexdigest()
        if stamp.exists():
            return None
        said = lint(program, stamps, tree.ROOT / name, *more)
        if not said:
            stamp.touch()
        for line in said:
            print(line.replace(f"{tree.ROOT}/", ""), flush=True)
        return said

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(judge, names))
    found = any(answers)
    seen = sum(answer is not None for answer in answers)
    if not found:
        print(f"  {len(names)} sources clean ({seen} looked at, {len(names) - seen} unchanged since)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
