#!/usr/bin/env python3
"""docs/FROM_CANDLE.md and docs/FROM_PYTORCH.md cannot rot: every name of candle has a row with an answer, and every spelling in an answer is declared.

  check_names.py               check both pages
  check_names.py program INTO  every spelling as C++, to be compiled and never run
  check_names.py --self-test
"""

import pathlib
import re
import sys

import ops_headers
import tree

CANDLE, PYTORCH = "docs/FROM_CANDLE.md", "docs/FROM_PYTORCH.md"
METHODS = "tests/docs/candle_methods.txt"
PYTORCH_NAMES = 300
# names that a reader brings along: functions of one's own, C++
FREE = {"f", "g", "hook"}
PAIR = {"first", "second"}
NAMESPACES = {"io", "models"}
WORDS = ("later:", "not here")


def rows(text):
    """(line number, names, answer) of each row of the tables whose second column is Votive's spelling."""
    ours = False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            ours = False
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[1] == "Votive":
            ours = True
        elif ours and not re.match(r"\|[-| ]+\|$", line):
            yield number, re.findall(r"`([^`]+)`", cells[0]) or [cells[0]], cells[1]


# What a spelling may speak of, in the program that holds them all.
BROUGHT = """struct Function {
  Tensor operator()(const Tensor& x) const { return x; }
  Tensor operator()(const Tensors& x) const { return x[0]; }
};
[[maybe_unused]] const Function f;
[[maybe_unused]] const std::function<Tensors(const Tensors& x, const Tensor& y, const Tensor& dy)> g;
[[maybe_unused]] const std::function<Tensor(const Tensor& dx)> hook;
[[maybe_unused]] Generator generator;
[[maybe_unused]] const std::vector<float> values;
[[maybe_unused]] const std::string path;
[[maybe_unused]] Tensor """
TENSORS = ("x y a b c w n p q k v bias ids mask source gamma beta table positions frequencies target targets lengths sizes edges grid gate up weight weights "
           "average deviation variance loss view theta").split()


def program(root):
    """Each spelling a statement of its own, at the line of its page."""
    out = ["// Every spelling of docs/FROM_CANDLE.md and docs/FROM_PYTORCH.md, taken by tools/check_names.py; compiled, never run.", "#include <cmath>", "#include <functional>",
           '#include "votive/autograd/autograd.h"', '#include "votive/base/thread_pool.h"', '#include "votive/io/gguf.h"', '#include "votive/io/safetensors.h"',
           '#include "votive/models/kv_cache.h"', '#include "votive/ops/ops.h"', "", "namespace votive::docs {", "", "namespace {", "", BROUGHT + ", ".join(TENSORS) + ";"]
    statements = []
    for page in (CANDLE, PYTORCH):
        for number, _, answer in rows((root / page).read_text(encoding="utf-8")):
            for code in re.findall(r"`([^`]+)`", answer):
                code = code.replace("\\|", "|")
                whole = code if code.endswith(";") else f"static_cast<void>(sizeof({code}));" if re.fullmatch(r"(\w+::)?[A-Z]\w*", code) else f"static_cast<void>({code});"
                statements.append(f'#line {number} "{page}"\n  {{ {whole} }}')
    for first in range(0, len(statements), 50):
        out += ["", f"[[maybe_unused]] void spellings_{first // 50}() {{", *statements[first:first + 50], "}"]
    return "\n".join([*out, "", "}  // namespace", "", "}  // namespace votive::docs", ""])


class Declared:
    """What the public headers declare: free functions, members, types, enumerators, fields."""

    def __init__(self, root):
        self.functions = {name for header in ops_headers.read(root) for name in header.names()}
        text = ""
        for path in public_headers(root):
            code = "\n".join(ops_headers.without_comment(line) for line in (root / path).read_text(encoding="utf-8").splitlines())
            text += code + "\n"
            self.functions |= set(re.findall(r"^(?:template\s*<[^>]*>\s*)?(?:inline |constexpr |const |std::)*[\w:]+(?:<[^;()]*>)?[&*]?\s+[&*]?(\w+)\(", code, re.M))
        self.members = set(re.findall(r"^\s{2,}(?:[\w:<>,&*\s]+?[\s&*])(\w+)\(", text, re.M))
        self.types = set(re.findall(r"\b(?:struct|class|using)\s+(\w+)", text))
        self.enumerators = {}
        for name, body in re.findall(r"enum class (\w+)[^{;]*\{([^}]*)\}", text):
            self.enumerators[name] = set(re.findall(r"\b(\w+)\b", body))
        self.fields = set(re.findall(r"\b(\w+)\s*(?:=[^;=]*|\{[^;]*\})?(?:;|,)", text))
        self.statics = set(re.findall(r"\b(\w+)\b", " ".join(re.findall(r"\bstatic\s[^;({=]*", text)))) | {n for values in self.enumerators.values() for n in values}
        self.constants = set(re.findall(r"constexpr\s+[\w:<>]+\s+(\w+)", text)) | set(re.findall(r"constexpr [^;{]*?\b(\w+)\s*[={]", text))


def public_headers(root):
    """votive.h and what it includes of Votive, all the way down."""
    found, waiting = [], ["votive/votive.h"]
    while waiting:
        path = waiting.pop()
        if path in found or not (root / path).exists():
            continue
        found.append(path)
        waiting += re.findall(r'#include "(votive/[^"]+)"', (root / path).read_text(encoding="utf-8"))
    return sorted(found)


def undeclared(code, declared):
    """Names in one spelling that no public header knows."""
    wrong = []
    bare = re.sub(r"\b\d+(\.\d+)?\b", "0", re.sub(r'"[^"]*"', '""', code))
    for field in re.findall(r"(?<=[{,\s(])\.(\w+)\s*=", bare):
        if field not in declared.fields:
            wrong.append(f".{field}")
    for member in re.findall(r"(?<=[\w)\]])\.(\w+)\s*(?:<[^>]*>)?", bare):
        if member not in declared.members | declared.fields | PAIR:
            wrong.append(f".{member}")
    for scope, name in re.findall(r"\b(\w+)::(\w+)", bare):
        if scope in NAMESPACES:
            wrong += [] if name in declared.types else [f"{scope}::{name}"]
        elif scope != "std" and (name not in declared.enumerators.get(scope, declared.statics) or scope not in declared.types | set(declared.enumerators)):
            wrong.append(f"{scope}::{name}")
    for name in re.findall(r"(?<![\w.:])([a-z_]\w*)\s*(?:<[^>]*>)?\(", bare):
        if name not in declared.functions and name not in FREE:
            wrong.append(f"{name}()")
    for name in re.findall(r"(?<![\w.:])([A-Z]\w*)\s*[({\s]", bare + " "):
        if name not in declared.types and not name.isupper():
            wrong.append(name)
    for name in re.findall(r"\b(ellipsis|newaxis)\b", bare):
        if name not in declared.constants:
            wrong.append(name)
    return wrong


def check_page(path, text, declared):
    found, names = [], []
    for number, of_row, answer in rows(text):
        names += of_row
        codes = re.findall(r"`([^`]+)`", answer)
        if not answer or not codes and not answer.startswith(WORDS):
            found.append(f"{path}:{number}: {of_row[0]} has no answer")
        for code in codes:
            for name in undeclared(code.replace("\\|", "|"), declared):
                found.append(f"{path}:{number}: `{code}`: {name} is in no public header")
    twice = {n for n in names if names.count(n) > 1}
    found += [f"{path}:1: {n} has more than one row" for n in sorted(twice)]
    return found, names


def check(root):
    declared = Declared(root)
    found, answered = check_page(CANDLE, (root / CANDLE).read_text(encoding="utf-8"), declared)
    wanted = [n for n in (root / METHODS).read_text(encoding="utf-8").splitlines() if n and not n.startswith("#")]
    found += [f"{CANDLE}:1: no row answers for candle's {n}" for n in wanted if n not in answered]
    found += [f"{CANDLE}:1: {n} is not in {METHODS}" for n in answered if n not in wanted]
    wrong, torch = check_page(PYTORCH, (root / PYTORCH).read_text(encoding="utf-8"), declared)
    found += wrong
    if len(torch) < PYTORCH_NAMES:
        found.append(f"{PYTORCH}:1: {len(torch)} names; at least {PYTORCH_NAMES} are promised")
    methods = sum("::" not in n for n in wanted)
    return found, f"  {methods} methods of candle's Tensor, {len(wanted) - methods} more of candle-nn or missing there; {len(torch)} names of PyTorch; all answered"


def self_test():
    class Some:
        functions, members, types = {"sum", "pad"}, {"to"}, {"Tensor", "NoGrad"}
        enumerators, fields, statics, constants = {"PadMode": {"edge"}}, {"axis", "values"}, {"cpu"}, set()

    page = """| candle | Votive | Where |
|---|---|---|
| `sum` | `sum(x, {.axis = 0})` | |
| `add`, `cat` | `plus(a, b)` | |
| `nothing` | | |
| `pad` | `pad(x, {.mode = PadMode::mirror})`, `x.into(f16)` | |
| `fft` | not here: out of scope | |
| `sum` | `NoGrad guard;`, `Guard{}` | |
"""
    found, names = check_page("a.md", page, Some())
    assert names == ["sum", "add", "cat", "nothing", "pad", "fft", "sum"], names
    for words in ("4: `plus(a, b)`: plus()", "5: nothing has no answer", "6: `pad(x, {.mode = PadMode::mirror})`: .mode", "PadMode::mirror is in no", ".into is in no",
                  "8: `Guard{}`: Guard", "sum has more than one row"):
        assert any(words in f for f in found), (words, found)
    assert len(found) == 7, found
    print("check_names: an answer that is missing and six spellings that do not exist named, good ones passed")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:2] == ["program"]:
        pathlib.Path(sys.argv[2]).write_text(program(tree.ROOT), encoding="utf-8")
        return 0
    found, summary = check(tree.ROOT)
    print("\n".join(found) if found else summary)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
