#!/usr/bin/env python3
"""The house rules that a regular expression can see: sizes of files, number of macros, banned words, names, how a file opens.

What is counted as a macro: every distinct name that a #define in votive/ or apps/ gives, once, whatever the number of its spellings. Not counted:
names that the same file takes back with #undef, and the prelude numerics/portable.h, whose task is to spell four languages (they are listed).
"""

import argparse
import pathlib
import re
import sys
import tempfile

import tree

CODE = (".h", ".hpp", ".cpp", ".inc", ".cl", ".cu")
TEXT = CODE + (".py", ".md", ".txt", ".cmake", ".json", ".sh", ".in", ".map", "", ".yml")
SMELL, LIMIT, MACROS = 400, 800, 10
TABLES = {"apps/votive/golden_fingerprints.cpp": "one line per fingerprint"}  # path → why it may be longer than LIMIT
DATA = "tests/golden/"  # text that tests read, in whatever words
PRELUDE = "votive/numerics/portable.h"

# (what is wrong, pattern, folders or files it holds for, files excepted)
LIBM = "exp|exp2|expm1|log|log2|log10|log1p|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|erf|erfc|pow|cbrt|hypot|lgamma|tgamma"
COMPUTE = r"votive/(numerics|cpu|reference|gpu)/"
BANNED = [
    ("libm has other bits on other systems; numerics/ has this function", rf"(\bstd::|__builtin_|(?<![\w.>:]))({LIBM})[fl]?\s*\(", COMPUTE, ()),
    ("the library never ends the program", r"\b(std::)?(abort|exit|_Exit|_exit|quick_exit|terminate)\s*\(|(?<![\w.])assert\s*\(", r"votive/", ()),
    ("the library never prints", r"\bstd::(cout|cerr|clog)\b|(?<!\w)(v|f|vf|d)?printf\s*\(|\bf?puts\s*\(|\bfmt::print|\bperror\s*\(", r"votive/", ()),
    ("after an exception the next call waits for ever where pthread_once does not unwind: a local static, or a mutex", r"\bcall_once\b", r"votive/", ()),
    ("fma_f32 and fma_f64 know which machines and C libraries have a right one", r"__builtin_fmaf?\b", r"votive/", ("votive/numerics/portable.h",)),
    ("text::format in full: the argument of a standard string calls in std::format, and where there is one the call is ambiguous",
     r"(?<![\w:.>])format\s*\(", r"(votive|apps)/", ("votive/base/text.h",)),
    ("`using namespace` in a header", r"^\s*using\s+namespace\b", r"(votive|apps)/.*\.h$", ()),
]
# These hold for comments and strings too.
BANNED_ANYWHERE = [
    ("left for later", r"\b(TODO|FIXME|XXX|HACK)\b", r"(votive|apps|tests|bench|cmake|examples|python)/|dev$|CMakeLists.txt$", ()),
    ("a path of one machine", r"(?<![\w.:/])/(home|root|work|Users)/\w", r"", ()),
    ("a flag that changes results or ties a build to one machine",
     r"-(ffast-math|Ofast|march=native|mtune=native|funsafe-math-optimizations|fassociative-math|ffinite-math-only|freciprocal-math)\b",
     r"(.*/)?(CMakeLists\.txt|CMakePresets\.json|[^/]*\.cmake|[^/]*\.sh)$|dev$|\.ci/", ()),
]
VAGUE = {"util", "utils", "helper", "helpers", "common", "misc"}


def code_only(line):
    """The line without its strings and its comment."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    return re.sub(r"//.*|/\*.*?\*/", "", line)


def check(root, names):
    found, long_files, macros, prelude = [], [], {}, set()
    for name in names:
        path = pathlib.Path(name)
        words = {w for part in path.parts for w in re.split(r"[_.\-]", part.lower())}
        for vague in sorted(words & VAGUE):
            found.append(f"{name}:1: a name that says nothing: '{vague}'")
        if path.suffix not in TEXT or name == "LICENSE":
            continue
        try:
            lines = (root / name).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        if name.startswith(DATA):
            continue
        is_code = path.suffix in CODE and path.parts[0] in ("votive", "apps", "tests", "bench", "examples")
        for number, line in enumerate(lines, 1):
            for what, pattern, where, excepted in BANNED_ANYWHERE:
                if name not in excepted and re.match(where, name) and re.search(pattern, line):
                    found.append(f"{name}:{number}: {what}: {line.strip()[:120]}")
            if not is_code:
                continue
            bare = code_only(line)
            if re.match(r"\s*(\*|/\*)", line):
                continue
            for what, pattern, where, excepted in BANNED:
                if name not in excepted and re.match(where, name) and re.search(pattern, bare):
                    found.append(f"{name}:{number}: {what}: {line.strip()[:120]}")
        if not is_code:
            continue
        if len(lines) > LIMIT and name not in TABLES:
            found.append(f"{name}:{LIMIT + 1}: {len(lines)} lines; over {LIMIT} is an error")
        elif len(lines) > SMELL:
            long_files.append(f"{name} ({len(lines)})")
        if not lines or not re.match(r"//|/\*", lines[0]):
            found.append(f"{name}:1: a file opens with a sentence that says what it is")
        if path.suffix == ".h" and path.parts[0] in ("votive", "apps") and not any(re.match(r"#pragma once", l) for l in lines):
            found.append(f"{name}:1: a header without #pragma once")
        if path.parts[0] in ("votive", "apps"):
            defined = {m[1]: n for n, line in enumerate(lines, 1) if (m := re.match(r"\s*#\s*define\s+(\w+)", line))}
            gone = {m[1] for line in lines if (m := re.match(r"\s*#\s*undef\s+(\w+)", line))}
            for macro, number in defined.items():
                if name == PRELUDE:
                    prelude.add(macro)
                elif macro not in gone:
                    macros.setdefault(macro, f"{name}:{number}")
    for macro in set(macros) & prelude:
        del macros[macro]
    if len(macros) > MACROS:
        found += [f"{place}: {macro} is one of {len(macros)} macros; at most {MACROS}" for macro, place in sorted(macros.items())]
    return found, long_files, macros, prelude


def self_test():
    """Each rule broken once, in a tree of its own."""
    later = "TO" + "DO"
    broken = {
        "votive/cpu/softmax.cpp": ("// A kernel.\nfloat f(float x) { return std::exp(x); }\n", "softmax.cpp:2: libm"),
        "votive/numerics/a.h": ("// Text.\n#pragma once\nfloat f(float x) { return tanhf(x); }\n", "a.h:3: libm"),
        "votive/base/a.cpp": ("// A file.\nvoid f() { std::abort(); }\n", "a.cpp:2: the library never ends"),
        "votive/base/b.cpp": ('// A file.\nvoid f() { std::printf("x"); }\n', "b.cpp:2: the library never prints"),
        "votive/base/form.cpp": ('// A file.\nstd::string f() { return format("{}", 1); }\n', "form.cpp:2: text::format in full"),
        "votive/cpu/fma.cpp": ("// A file.\nfloat f(float x) { return __builtin_fmaf(x, x, x); }\n", "fma.cpp:2: fma_f32 and fma_f64"),
        "votive/base/once.cpp": ("// A file.\nvoid f() { std::call_once(flag, g); }\n", "once.cpp:2: after an exception"),
        "votive/base/c.cpp": (f"// A file.\n// {later}: more\n", "c.cpp:2: left for later"),
        "votive/base/d.cpp": ("int x;\n", "d.cpp:1: a file opens"),
        "votive/base/e.h": ("// A header.\nint x;\n", "e.h:1: a header without"),
        "votive/base/f.h": ("// A header.\n#pragma once\nusing namespace std;\n", "f.h:3: `using namespace`"),
        "votive/base/string_utils.cpp": ("// A file.\n", "string_utils.cpp:1: a name that says nothing"),
        "votive/base/long.cpp": ("// A file.\n" * 801, "long.cpp:801: 801 lines"),
        "cmake/flags.cmake": ("# flags\nadd_compile_options(-Ofast)\n", "flags.cmake:2: a flag"),
        "docs/a.md": ("See /" + "home/someone/votive.\n", "a.md:1: a path of one machine"),
        "votive/base/macros.h": ("// A header.\n#pragma once\n" + "".join(f"#define M{i} {i}\n" for i in range(11)), "macros.h:3: M0 is one of 11 macros"),
    }
    fine = {
        "votive/cpu/exp.cpp": '// exp(x) in words.\nfloat f(float x) { return exp_f32(x); }  // not std::exp(x)\nvoid g() { row.exp(); snprintf(a, 3, "%d", 1); }\n',
        "votive/base/local.h": "// A header.\n#pragma once\n#define LOCAL 1\n#undef LOCAL\n",
        "votive/numerics/portable.h": "// The prelude.\n#pragma once\n" + "".join(f"#define P{i} {i}\n" for i in range(20)),
        "tests/base/print_test.cpp": "// A test may print.\nvoid f() { std::printf(\"x\"); }\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in [(p, t) for p, (t, _) in broken.items()] + list(fine.items()):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        found, _, macros, _ = check(root, tree.files(root=root))
        for path, (_, words) in broken.items():
            assert any(words in f for f in found), f"{path} was not caught: {found}"
        for path in fine:
            assert not any(f.startswith(path + ":") for f in found), f"{path} was blamed: {found}"
        assert "LOCAL" not in macros and "P0" not in macros
    print(f"check_house: {len(broken)} broken files named, {len(fine)} good files passed")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--self-test", action="store_true")
    if arguments.parse_args().self_test:
        self_test()
        return 0
    names = tree.files()
    found, long_files, macros, prelude = check(tree.ROOT, names)
    print(f"  {len(names)} files; macros: {len(macros)} of at most {MACROS} ({', '.join(sorted(macros)) or 'none'}), and {len(prelude)} of the prelude")
    if long_files:
        print(f"  over {SMELL} lines, a smell: {', '.join(long_files)}")
    if found:
        print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
