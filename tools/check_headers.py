#!/usr/bin/env python3
"""Every header compiles alone, the public ones and the library's own."""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import tree

# Compiled once per instruction set, with what cmake/kernels.cmake defines for the kernel file that includes them.
ISA_HEADERS = ("-DVOTIVE_ISA=baseline", "-DVOTIVE_ISA_baseline=1")
# The instruction sets' parts of simd.h, which includes one of them after what all of them need.
PARTS = "votive/cpu/simd_"


def compile_alone(root, name, compiler):
    """The compiler's first complaint, or None."""
    flags = ISA_HEADERS if name.startswith("votive/cpu/") else ()
    answer = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-I.", *flags, "-x", "c++", "-"],
                            cwd=root, input=f'#include "{name}"\n', capture_output=True, text=True)
    if answer.returncode == 0:
        return None
    errors = [line for line in answer.stderr.splitlines() if "error" in line]
    return f"{name}:1: does not compile alone: {errors[0] if errors else answer.stderr.strip()[:200]}"


def check(root, names, compiler, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [wrong for wrong in pool.map(lambda name: compile_alone(root, name, compiler), names) if wrong]


def self_test(compiler):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "good.h").write_text("#include <string>\ninline std::string f() { return {}; }\n")
        (root / "bad.h").write_text("inline std::string f() { return {}; }\n")
        found = check(root, ["bad.h", "good.h"], compiler, 2)
        assert len(found) == 1 and found[0].startswith("bad.h:1:"), found
    print("check_headers: a header that leans on others named, a good one passed")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--self-test", action="store_true")
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--compiler", default="g++")
    options = arguments.parse_args()
    if options.self_test:
        self_test(options.compiler)
        return 0
    names = [name for name in tree.files("votive", suffixes=(".h",)) if not name.startswith(PARTS)]
    found = check(tree.ROOT, names, options.compiler, options.jobs)
    print("\n".join(found) if found else f"  {len(names)} headers, each compiles alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
