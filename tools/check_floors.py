#!/usr/bin/env python3
"""Fails, naming file and line, when an include breaks the floors table of docs/ARCHITECTURE.md. The rules are in that table, not here."""

import argparse
import pathlib
import re
import sys
import tempfile

ROW = re.compile(r"^\|\s*[^|]+\|\s*`(?P<folder>[a-z/]+)`\s*\|[^|]*\|(?P<includes>[^|]*)\|(?P<libraries>[^|]*)\|\s*$")
INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s*(?P<open>[<"])(?P<name>[^>"]+)[>"]')
SOURCES = (".h", ".hpp", ".cpp", ".cc", ".c", ".inc", ".cl", ".cu")

# A library is known by the headers that only it has. What is in none of these is C++ or POSIX.
LIBRARIES = {
    "fmt": r"fmt/",
    "pcre2": r"pcre2",
    "utf8proc": r"utf8proc",
    "json": r"nlohmann/",
    "cli11": r"CLI/",
    "intrinsics": r"(\w*intrin\.h|arm_\w+\.h|cpuid\.h)$",
    "libm": r"(cmath|math\.h|complex|tgmath\.h|ctgmath)$",
    "gtest": r"g(test|mock)/",
    "mpfr": r"(mpfr|gmp)\.h$",
    "protobuf": r"(google/protobuf|onnx)/",
}
# libm gives different bits on different systems, so the folders that compute may not even see it.
NO_LIBM = {"votive/numerics", "votive/reference", "votive/cpu", "votive/gpu"}


def read_table(text):
    """folder → (folders of votive/ it may include, {library: file it must stay in or None})"""
    rules = {}
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            libraries = dict((name, file or None) for name, file in re.findall(r"([a-z0-9*]+)(?: \(in ([\w.]+)\))?", row["libraries"]))
            rules[row["folder"]] = (row["includes"].split(), libraries)
    return rules


def folder_of(path, rules):
    """The longest row that holds the file."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in rules:
            return "/".join(parts)
        if parts[0] == "votive" and len(parts) == 2:
            return None  # a new folder of the library needs a row of its own
        parts.pop()
    return None


def complaint(root, path, quoted, name, rules):
    """What is wrong with this include, or None."""
    folder = folder_of(path, rules)
    includes, libraries = rules[folder]
    if "*" in includes:
        return None
    if name.startswith("votive/"):
        target = name.split("/")[1] if name.count("/") > 1 else name[len("votive/"):]
        if target not in includes:
            return f"{folder} may not include {name} (it may include: {' '.join(includes)})"
        return None
    if quoted:
        if folder.split("/")[0] != "votive" and (root / path).with_name(name).is_file():
            return None  # a program's own header, beside it
        return f'"{name}": headers of this project are named from its root, "votive/…"'
    for library, pattern in LIBRARIES.items():
        if re.match(pattern, name):
            if library not in libraries and (library != "libm" or folder in NO_LIBM):
                return f"{folder} may not include <{name}>: {library} is not among its libraries"
            home = libraries.get(library)
            if home and not path.endswith("/" + home):
                return f"<{name}> may be included only by {folder}/{home}"
    return None


def check(root):
    table = root / "docs/ARCHITECTURE.md"
    rules = read_table(table.read_text(encoding="utf-8"))
    if len(rules) < 10:
        return [f"{table}: the floors table was not found"], 0
    found, count = [], 0
    for top in ("votive", "apps", "examples", "tests", "bench"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            if folder_of(path, rules) is None:
                found.append(f"{path}:1: this folder has no row in the floors table of docs/ARCHITECTURE.md")
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                include = INCLUDE.match(line)
                if include:
                    count += 1
                    wrong = complaint(root, path, include["open"] == '"', include["name"], rules)
                    if wrong:
                        found.append(f"{path}:{number}: {wrong}")
    return found, count


def self_test(root):
    """Breaks each rule once in a small tree with the real table, and expects each to be named."""
    broken = {
        "votive/base/a.h": ('#include "votive/core/shape.h"', "votive/base may not include votive/core/shape.h"),
        "votive/base/c.h": ("#include <fmt/format.h>", "only by votive/base/text.h"),
        "votive/numerics/a.h": ('#include "votive/base/error.h"', "votive/numerics may not include"),
        "votive/numerics/math.h": ("#include <cmath>", "only by votive/numerics/portable.h"),
        "votive/cpu/a.cpp": ('#include "votive/reference/a.h"', "votive/cpu may not include"),
        "votive/cpu/b.cpp": ("#include <math.h>", "libm is not among its libraries"),
        "votive/reference/a.cpp": ('#include "votive/cpu/a.h"', "votive/reference may not include"),
        "votive/text/a.cpp": ('#include "votive/core/tensor.h"', "votive/text may not include"),
        "votive/models/a.cpp": ('#include "votive/cpu/device.h"', "votive/models may not include"),
        "votive/models/b.cpp": ('#include "votive/runtime/devices.h"', "votive/models may not include"),
        "votive/core/a.cpp": ("#include <nlohmann/json.hpp>", "json is not among its libraries"),
        "votive/core/b.cpp": ('#include "shape.h"', "named from its root"),
        "votive/ops/a.cpp": ("#include <immintrin.h>", "intrinsics is not among its libraries"),
        "votive/misc/a.cpp": ("int x;", "no row in the floors table"),
        "apps/votive/main.cpp": ('#include "votive/core/tensor.h"', "apps may not include"),
    }
    fine = {
        "votive/base/text.h": "#include <fmt/format.h>",
        "votive/numerics/portable.h": "#include <cmath>",
        "votive/cpu/c.cpp": '#include <immintrin.h>\n#include "votive/numerics/math.h"\n// #include "votive/reference/a.h"',
        "votive/runtime/devices.cpp": '#include "votive/cpu/device.h"\n#include "votive/reference/device.h"',
        "votive/models/c.cpp": '#include "votive/text/tokenizer.h"\n#include <vector>\n#include <cmath>',
        "votive/votive.h": '#include "votive/ops/ops.h"',
        "apps/votive/chat.cpp": "#include <CLI/CLI.hpp>\n#include <votive/votive.h>\n#include \"command.h\"",
        "apps/votive/command.h": "#pragma once",
        "tests/cpu/a_test.cpp": '#include <mpfr.h>\n#include "votive/cpu/device.h"',
    }
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        (tree / "docs").mkdir()
        (tree / "docs/ARCHITECTURE.md").write_text((root / "docs/ARCHITECTURE.md").read_text(encoding="utf-8"), encoding="utf-8")
        for path, text in [(p, t) for p, (t, _) in broken.items()] + list(fine.items()):
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text("// A file.\n" + text + "\n", encoding="utf-8")
        found, _ = check(tree)
        for path, (_, words) in broken.items():
            assert any(f.startswith(path + ":") and words in f for f in found), f"{path} was not caught: {found}"
        for path in fine:
            assert not any(f.startswith(path + ":") for f in found), f"{path} was blamed: {found}"
    print(f"check_floors: {len(broken)} broken includes named, {len(fine)} good files passed")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--self-test", action="store_true")
    root = pathlib.Path(__file__).resolve().parent.parent
    if arguments.parse_args().self_test:
        self_test(root)
        return 0
    found, count = check(root)
    print("\n".join(found) if found else f"  {count} includes, each allowed by the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
