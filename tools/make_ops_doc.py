#!/usr/bin/env python3
"""docs/OPS.md from what the headers say and what the program knows, and the docstrings' examples as a program.

  make_ops_doc.py write CATALOGUE        write docs/OPS.md; CATALOGUE is the program tests/docs/catalogue.cpp, or what it printed
  make_ops_doc.py check CATALOGUE        fail when docs/OPS.md is another text, or a public function has no docstring or example
  make_ops_doc.py coverage CATALOGUE     operations by dtypes, devices and gradient
  make_ops_doc.py examples HEADER INTO   the examples of one header as C++
  make_ops_doc.py index INTO HEADER…     the list of all of them
  make_ops_doc.py --self-test
"""

import difflib
import json
import pathlib
import re
import subprocess
import sys

import ops_headers
import tree

OUT = "docs/OPS.md"
TENSOR = "votive/core/tensor.h"
STRICT = True  # whether a public function without docstring or example is an error
CREATIONS = "tensor|zeros|ones|full|eye|arange|linspace|rand|randn|randint"
GROUPS = [("bool", ["bool"]), ("integers", ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]), ("floats", ["f16", "bf16", "f32", "f64"]),
          ("f8", ["e4m3", "e5m2"])]
DTYPES = [d for _, group in GROUPS for d in group]
DTYPE_TOKEN = re.compile(r"(?<![\w.])(?:DType::)?(boolean|[ui](?:8|16|32|64)|f16|bf16|f32|f64|e4m3|e5m2)\b(?!\()")

# ------------------------------------------------------------------------------------------------------------ examples as C++


def closing(text, at):
    """Index of the parenthesis that closes the one at `at`."""
    depth, quoted = 0, ""
    for i in range(at, len(text)):
        c = text[i]
        if quoted:
            quoted = "" if c == quoted and text[i - 1] != "\\" else quoted
        elif c in "\"'":
            quoted = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"no end of ( in {text}")


def arguments(text):
    """The call's arguments at the top level."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last or parts else parts


def creations(expression):
    """(start, end, function, arguments) of each call that makes a tensor, outermost first."""
    found, at = [], 0
    for call in re.finditer(rf"(?<![\w.:>])({CREATIONS})\(", expression):
        if call.start() < at:
            continue
        end = closing(expression, call.end() - 1) + 1
        found.append((call.start(), end, call[1], expression[call.end():end - 1]))
        at = end
    return found


def dtype_of(argument_text):
    found = [d[1] for a in arguments(argument_text) for d in [DTYPE_TOKEN.match(a)] if d]
    return found[0] if found else None


def with_tried_dtype(expression, name, signatures):
    """A call of a function that takes a dtype: the same with the tried one, where the example leaves it to the default."""
    call = re.match(rf"{re.escape(name)}\(", expression)
    if not call or closing(expression, call.end() - 1) != len(expression) - 1:
        return None
    given = arguments(expression[call.end():-1])
    for _, signature in signatures:
        inner = signature[signature.index("(") + 1:closing(signature, signature.index("("))]
        wanted = arguments(inner)
        if "Tensor" in inner or len(given) > len(wanted):
            continue
        place = next((i for i, w in enumerate(wanted) if re.search(r"\bDType>?\s+\w+", w)), None)
        if place is None or len(given) > place:
            continue
        middle = [w.partition("=")[2].strip() for w in wanted[len(given):place]]
        if not all(middle):
            continue
        after = [", {.device = tried_device()}"] if len(wanted) > place + 1 and "Options" in wanted[place + 1] else [""]
        return f"{name}({', '.join(given + middle + ['tried_dtype()'])}{after[0]})"
    return None


def as_program(part, example):
    """The expression with its tensors made by made(), so that they can be tried with another dtype and on another device."""
    text, name = example.expression, called(part, example)
    other = with_tried_dtype(text, name, [s for s in part.signatures if s[0] == name])
    if other:
        return f"trying() ? {other} : {text}"
    calls = creations(text)
    defaulted = [c for c in calls if dtype_of(c[3]) is None and c[2] not in ("arange", "randint")]
    varied = set(defaulted)
    if not defaulted and calls:
        first = dtype_of(calls[0][3])
        varied = {c for c in calls if dtype_of(c[3]) == first}
    for call in reversed(calls):
        start, end = call[0], call[1]
        text = f"{text[:start]}made({text[start:end]}, {'true' if call in varied else 'false'}){text[end:]}"
    return text


def calls(name, expression):
    if name.startswith("operator"):
        return name.removeprefix("operator") in expression
    return re.search(rf"(?<![\w])(?:\.)?{re.escape(name)}\s*(<[^>]*>)?\(|\b{re.escape(name)}\b", expression) is not None


def called(part, example):
    names = [n for n, _ in part.signatures]
    return next((n for n in names if calls(n, example.expression)), names[0] if names else "type")


def quoted(text):
    return f'R"~({text})~"'


def examples_program(header):
    lines = [f"// The examples of {header.path}, taken by tools/make_ops_doc.py.", "#include <sstream>", '#include "tests/docs/examples.h"',
             '#include "votive/autograd/autograd.h"', '#include "votive/ops/ops.h"', f'#include "{header.path}"', "",
             "namespace votive::docs {", "", f"void add_{header.subject}(std::vector<Example>& list_of_examples);",
             f"void add_{header.subject}([[maybe_unused]] std::vector<Example>& list_of_examples) {{"]
    for part, example in header.examples():
        lines += [f"  list_of_examples.push_back({{{quoted(called(part, example))}, {quoted(header.path)}, {example.line},",
                  f"                 {quoted(example.expression)}, {quoted(example.expected)}, [] {{",
                  f'#line {example.line} "{header.path}"', f"    return outcome({as_program(part, example)}); }}}});"]
    return "\n".join(lines + ["}", "", "}  // namespace votive::docs", ""])


def index_program(subjects):
    declared = "\n".join(f"void add_{s}(std::vector<Example>& list_of_examples);" for s in subjects)
    added = "\n".join(f"  add_{s}(list_of_examples);" for s in subjects)
    return ('// Every header with examples, listed by tools/make_ops_doc.py.\n#include "tests/docs/examples.h"\n\nnamespace votive::docs {\n\n'
            f"{declared}\n\nstd::vector<Example> examples() {{\n  std::vector<Example> list_of_examples;\n{added}\n  return list_of_examples;\n}}\n\n}}  // namespace votive::docs\n")


# ------------------------------------------------------------------------------------------------------------------ the catalogue


def catalogue_of(source):
    path = pathlib.Path(source)
    if path.suffix == ".json":
        return json.loads(path.read_text(encoding="utf-8"))
    return json.loads(subprocess.run([str(path.resolve())], check=True, capture_output=True, text=True).stdout)


def gradient_of(example):
    """What the program said, or what its error means."""
    said = example["gradient"]
    if not said.startswith("error"):
        return said
    if "f64" not in example["gives"]["cpu"]:
        return "no floats"
    return "written" if "has no gradient" in said else said


class Facts:
    """What the program said of one function, over all its examples."""

    def __init__(self, catalogue):
        self.rows = catalogue["pointwise"]
        self.kernels = catalogue["kernels"]
        self.by_line = {(e["header"], e["line"]): e for e in catalogue["examples"]}

    def of(self, header, name):
        found = [self.by_line[header.path, e.line] for part, e in header.examples()
                 if calls(name, e.expression) and name in {n for n, _ in part.signatures} and (header.path, e.line) in self.by_line]
        if not found and name.startswith("operator"):  # one example shows a row of operators
            found = [self.by_line[header.path, e.line] for part, e in header.examples()
                     if name in {n for n, _ in part.signatures} and (header.path, e.line) in self.by_line]
        gives = {}
        for example in found:
            for device, answers in example["gives"].items():
                for dtype, result in answers.items():
                    gives.setdefault(device, {}).setdefault(dtype, result)
        order = ["yes", "zero", "refused", "not recorded", "no result", "no input", "no floats", "written"]
        gradients = sorted((gradient_of(e) for e in found), key=lambda g: order.index(g) if g in order else -1)
        return gives, gradients[0] if gradients else "", any(e["twice"] for e in found)


def dtype_line(gives):
    """'floats → same · integers, bool → f32' of {dtype: result}; every dtype that is missing was refused."""
    if not gives:
        return ""
    words = []
    for group, members in GROUPS:
        taken = [d for d in members if d in gives]
        if not taken:
            continue
        results = {("same" if gives[d] == d else gives[d]) for d in taken}
        label = group if taken == members else " ".join(taken)
        if len(results) == 1:
            words.append((label, results.pop()))
        else:
            words += [(" ".join(d for d in taken if ("same" if gives[d] == d else gives[d]) == r), r) for r in sorted(results)]
    merged = {}
    for label, result in words:
        merged.setdefault(result, []).append(label)
    return " · ".join(", ".join(labels) + (f" → {result}" if result and result != "same" else "") for result, labels in merged.items())


GRADIENTS = {
    "no floats": "none: it takes no floats",
    "written": "none: it refuses what asks for a gradient",
    "yes": "yes",
    "zero": "zero everywhere it exists",
    "zero here": "yes; zero at the example's values",
    "refused": "none: `backward` throws, naming it",
    "not recorded": "none: nothing is recorded",
    "no result": "none: the result is not floating",
    "no input": "none: no input to differentiate by",
}

# --------------------------------------------------------------------------------------------------------------------- the page


def escaped(text):
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"(?<!\w)_|_(?!\w)|[*<]", lambda m: "\\" + m[0], p) for p in pieces)


def prose(lines):
    """Docstring lines as Markdown: what is indented are the inputs, one item each."""
    out, paragraph = [], []
    for line in [*lines, None]:
        item = line is not None and re.match(r"\s{2,}(\S.*)", line)
        if item or line is None or not line.strip():
            if paragraph:
                out += [escaped(" ".join(paragraph)), ""]
                paragraph = []
            if item:
                if out and not out[-1] and len(out) > 1 and out[-2].startswith("- "):
                    out.pop()
                name = re.match(r"([\w, …]+?)\s{2,}(.*)", item[1])
                out += ["- " + (f"`{name[1]}` {escaped(name[2])}" if name else escaped(item[1])), ""]
            continue
        paragraph.append(line.strip())
    return out


def sections(doc):
    """(prose, throws, source) of a docstring."""
    kept, throws, source, target = [], [], [], None
    for line in doc:
        if re.match(r"Throws\b", line):
            target = throws
        elif re.match(r"Source:", line):
            target = source
        elif re.match(r"(Class [EPB]|Gradient)\b", line) or re.match(r"\s{2,}", line):
            target = None
        (kept if target is None else target).append(line if target is None else line.strip())
    return kept, " ".join(throws), " ".join(source).removeprefix("Source:").strip()


def class_of(doc, row):
    found = re.search(r"\b[Cc]lass ([EPB])\b", " ".join(doc))
    letter = row["class"] if row else found[1] if found else ""
    bound = f", at most {row['ulp']:g} ulp" if row and row["ulp"] and letter == "P" else ""
    return letter + bound


def entry(header, name, facts):
    parts = [p for p in header.parts if any(n == name for n, _ in p.signatures)]
    out = [f"### {name}", "", "```cpp"]
    for part in parts:
        out += part.types if part.signatures[0][0] == name else []
        out += [text for n, text in part.signatures if n == name]
    out += ["```", ""]
    throws, sources, doc = [], [], []
    for part in parts:
        kept, throw, source = sections(part.doc)
        out += prose(kept)
        doc += part.doc
        throws += [throw] if throw else []
        sources += [source] if source else []
    row = facts.rows.get(name)
    gives, gradient, twice = facts.of(header, name)
    if gradient == "zero" and not (row and all("zeros_like" in f for f in row["gradients"])):
        gradient = "zero here"  # at the example's values; that is no rule
    letter = class_of(doc, row)
    if header.path == ops_headers.AUTOGRAD:  # no operations: what steers them
        gives, gradient, letter = {}, "", ""
    cpu, reference = gives.get("cpu", {}), gives.get("reference", {})
    formulas = row["gradients"] if row and gradient == "yes" else []
    rule = ": " + ", ".join(f"`{f}`" + (f" for {which}" if len(formulas) > 1 else "") for f, which in zip(formulas, "abc")) if formulas else ""
    items = [("Dtypes", dtype_line(cpu) if cpu == reference else f"cpu: {dtype_line(cpu)}; reference: {dtype_line(reference)}"),
             ("Class", letter),
             ("Gradient", GRADIENTS.get(gradient, gradient) + (", with a gradient of its own" if twice else "") + rule),
             ("Throws", escaped(" ".join(dict.fromkeys(throws)).removeprefix("Throws").strip())),
             ("Source", escaped(" ".join(sources)))]
    for part in parts:
        items += [("Example", f"`{e.expression}` → `{e.expected}`") for e in part.examples if calls(name, e.expression)]
    return out + [f"- **{what}** {text}" for what, text in items if text] + [""]


def tensor_section(text):
    out = ["## Tensor", "", f"`{TENSOR}` — what a tensor says of itself; operations are functions.", "", "| Member | |", "|---|---|"]
    for shown, doc in ops_headers.members(text, "Tensor"):
        code, words = shown.replace("|", "\\|"), escaped(doc).replace("|", "\\|")
        out.append(f"| `{code}` | {words} |")
    return [*out, ""]


def page(headers, facts, tensor=""):
    count = sum(len(h.names()) for h in headers)
    examples = sum(len(h.examples()) for h in headers)
    out = ["# Operations", "",
           "<!-- Generated by `./dev docs` from the docstrings in votive/ops/functions/ and votive/autograd/autograd.h, and from what the program says of itself. -->", "",
           f"{count} functions; {examples} examples, all of which run as tests. What the words mean is in [CONTRACT.md](CONTRACT.md).", "",
           "**Dtypes** says what the first tensor may be and what comes out, found by running the examples with each of the 15 dtypes on both devices; what is not listed is refused with",
           "`DTypeMismatch` or `Unsupported`. *Floats* are f16, bf16, f32, f64; *integers* are u8, i8, u16, i16, u32, i32, u64, i64; *f8* are e4m3, e5m2. Without an arrow the result has the dtype of the input.",
           "**Class** E: the bits are fixed by the contract; P: fixed too, and within the bound of the true value; B: a bound, and on the CPU the bits as well (CONTRACT.md 0.2, D14).",
           "**Gradient** says what `backward` does, found by running it on the example in f64.", ""]
    out += ["| Subject | Functions |", "|---|---|"]
    for header in headers:
        links = ", ".join(f"[{escaped(n)}](#{anchor(header, n)})" for n in header.names())
        out.append(f"| [{header.subject}](#{header.subject}) | {links} |")
    if tensor:
        out += ["| [Tensor](#tensor) | its members |", "", *tensor_section(tensor)]
    out.append("")
    for header in headers:
        out += [f"## {header.subject}", "", f"`{header.path}` — {escaped(header.opening)}", ""]
        loose = [t for p in header.parts if not p.signatures for t in p.types]
        if loose:
            out += ["```cpp", *loose, "```", ""]
        for name in header.names():
            out += [f'<a id="{anchor(header, name)}"></a>', "", *entry(header, name, facts)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n"


def anchor(header, name):
    return f"{header.subject}-" + re.sub(r"[^\w]", lambda m: f"{ord(m[0]):x}", name)


# ----------------------------------------------------------------------------------------------------------------------- checks


def undocumented(headers, rows):
    """(errors, warnings): a public function needs a docstring, a class and an example that calls it."""
    errors, warnings = [], []
    for header in headers:
        for name in header.names():
            parts = [p for p in header.parts if any(n == name for n, _ in p.signatures)]
            where = f"{header.path}:{parts[0].line}: {name}"
            doc = [line for p in parts for line in p.doc]
            if not any(line.strip() for line in doc):
                errors.append(f"{where} has no docstring")
            shared = name.startswith("operator")  # one example shows a row of operators
            if not any(shared or calls(name, e.expression) for p in parts for e in p.examples):
                errors.append(f"{where} has no `Example: {name}(…)  // result` in its docstring")
            said = re.search(r"\b[Cc]lass ([EPB])\b", " ".join(doc))
            if header.path != ops_headers.AUTOGRAD and not said:
                warnings.append(f"{where} does not say its class")
            if said and name in rows and not re.search(rf"\b[Cc]lass {rows[name]['class']}\b", " ".join(doc)):
                errors.append(f"{where} says class {said[1]}, its row {rows[name]['class']}")
        for part, example in header.examples():
            if not example.expected:
                errors.append(f"{header.path}:{example.line}: the example of {called(part, example)} says no result")
    return errors, warnings


def unlike_devices(catalogue):
    found = []
    for example in catalogue["examples"]:
        place = f"{example['header']}:{example['line']}: {example['function']}"
        if example["gives"]["cpu"] != example["gives"]["reference"]:
            found.append(f"{place} does not take the same dtypes on cpu and reference")
        if gradient_of(example).startswith("error"):
            found.append(f"{place}: its gradient gives {example['gradient']}")
    return found


# What a function that takes some dtypes may refuse, and where the contract says so. A group that is refused in part has no reason.
REFUSALS = [("f8", "e4m3 and e5m2 are stored, cast, copied, indexed and compared; they have no arithmetic (1.1, 3.1)"),
            ("bool", "bool has no arithmetic (D6), and floating operations of section 4 take floats"),
            ("integers", "floating operations whose weights, masks or results have x's dtype: norms, products, losses, attention (2.4, 4.2, 4.3, 4.5)"),
            ("floats", "bits and counts (2.1, 2.5), ids and targets (5.1): integers only")]
IN_PART = {"rope": "frequencies are f32, or f64 with x of f64, and the example's have x's dtype (4.5)", "fmin": "the example divides, and f32 has no common dtype with the rest (1.2)", "fmax": "as fmin",
           "multiply_no_nan": "as fmin", "bitcast": "only dtypes of the same size (6)", "cast_checked": "only where no value of the example is lost (6)"}
# Functions of floats without a gradient, and why.
UNDIFFERENTIABLE = {"zeros_like": "x gives its shape, not its values", "ones_like": "x gives its shape, not its values", "full_like": "x gives its shape, not its values",
                    "empty_like": "x gives its shape, not its values", "rand_like": "x gives its shape, not its values", "randn_like": "x gives its shape, not its values"}


def coverage(headers, facts):
    """The table as text, its counts, and its gaps by the contract's reason."""
    lines = [f"{'operation':<26} {'device':<10}" + "".join(f"{d:>6}" for d in DTYPES) + "  gradient"]
    marks = {"yes": "yes", "zero": "zero", "refused": "none: backward throws", "not recorded": "none: nothing recorded", "no result": "none: result not floating", "no input": "-",
             "no floats": "none: takes no floats", "written": "none: refuses what asks for one"}
    functions, pairs, tally, refused, unnamed, without = 0, 0, {}, {}, [], []
    for header in headers:
        if header.path == ops_headers.AUTOGRAD:
            continue
        for name in header.names():
            gives, gradient, twice = facts.of(header, name)
            functions += 1
            mark = marks.get(gradient, "?") + (", twice" if twice else "")
            tally[mark] = tally.get(mark, 0) + 1
            if gradient in ("refused", "not recorded"):
                without.append((name, gradient))
            for device in ("cpu", "reference"):
                taken = gives.get(device, {})
                pairs += len(taken)
                lines.append(f"{name:<26} {device:<10}" + "".join(f"{('x' if d in taken else '.'):>6}" for d in DTYPES) + f"  {mark}")
            taken = gives.get("cpu", {})
            for group, members in GROUPS if taken else []:
                missing = [d for d in members if d not in taken]
                if missing == members:
                    refused.setdefault(group, []).append(name)
                elif missing and name not in IN_PART:
                    unnamed.append(f"{name} ({' '.join(missing)})")
    lines += ["", f"total: {functions} functions, {pairs} triples of function, dtype and device; gradients: " +
              ", ".join(f"{n} {mark}" for mark, n in sorted(tally.items(), key=lambda m: -m[1])), "", "gaps, by the contract's reason:"]
    for group, reason in REFUSALS:
        names = refused.get(group, [])
        lines.append(f"  {group} refused by {len(names)}: {reason}" + (": " + " ".join(names) if group in ("integers", "floats") else ""))
    lines.append("  no gradient: " + "; ".join(f"{n} ({UNDIFFERENTIABLE.get(n, 'WITHOUT A REASON: ' + g)})" for n, g in without))
    lines += [f"  {name}: {reason}" for name, reason in IN_PART.items()]
    lines.append("  without a reason: " + ("; ".join(unnamed) or "none"))
    return "\n".join(lines)


def check(root, source):
    headers, catalogue = ops_headers.read(root), catalogue_of(source)
    facts = Facts(catalogue)
    errors, warnings = undocumented(headers, facts.rows)
    if not STRICT:
        errors, warnings = [], warnings + errors
    errors += unlike_devices(catalogue)
    wanted, path = page(headers, facts, (root / TENSOR).read_text(encoding="utf-8")), root / OUT
    have = path.read_text(encoding="utf-8") if path.exists() else ""
    for line in warnings if len(warnings) < 40 else [*warnings[:40], f"and {len(warnings) - 40} more"]:
        print(f"  warning: {line}")
    if have != wanted:
        change = list(difflib.unified_diff(have.splitlines(), wanted.splitlines(), OUT, "what the sources give", lineterm="", n=0))
        errors.append(f"{OUT}:1: not what the sources give; write it anew by ./dev docs\n" + "\n".join(change[:12]))
    return errors


# -------------------------------------------------------------------------------------------------------------------- self-test

HEADER = """// Small things. Not large ones.
#pragma once

namespace votive {

struct TwiceOptions {
  int axis = -1;  // which
};
/// Twice x:  y = 2·x.
///   x  floating, [..., N]  →  same
/// Class E.
/// Throws Error{DTypeMismatch}.
/// Example: twice(tensor({1, 2}))  // [2, 4]
Tensor twice(const Tensor& x, TwiceOptions options = {});
Tensor twice(const Tensor& x, int axis);
Tensor silent(const Tensor& x);

/// Ones. Class E. Example:
/// Example: unit({2})  // [1, 1]
Tensor unit(const Shape& shape, DType dtype = f32, CreateOptions options = {});

}  // namespace votive
"""


def self_test():
    header = ops_headers.parse("votive/ops/functions/small.h", HEADER)
    assert header.names() == ["twice", "silent", "unit"], header.names()
    twice, _, unit = header.parts
    assert [n for n, _ in twice.signatures] == ["twice", "twice"] and twice.types[0].startswith("struct TwiceOptions")
    assert as_program(twice, twice.examples[0]) == "twice(made(tensor({1, 2}), true))"
    assert as_program(unit, unit.examples[0]) == "trying() ? unit({2}, tried_dtype(), {.device = tried_device()}) : unit({2})"
    mixed = ops_headers.Example(1, "gather(tensor({1, 2}), tensor({0}, i64), 0)", "[1]")
    assert as_program(twice, mixed) == "gather(made(tensor({1, 2}), true), made(tensor({0}, i64), false), 0)"
    errors, _ = undocumented([header], {"twice": {"class": "P", "ulp": 1}})
    assert len(errors) == 3 and "silent has no docstring" in errors[1] and "class E, its row P" in errors[0], errors
    gives = {d: d for d in ("f16", "bf16", "f32", "f64")} | {d: "f32" for d in GROUPS[1][1]}
    assert dtype_line(gives) == "integers → f32 · floats", dtype_line(gives)
    facts = Facts({"pointwise": {}, "kernels": {}, "examples": [
        {"header": header.path, "line": twice.examples[0].line, "function": "twice", "gives": {"cpu": gives, "reference": gives}, "gradient": "yes", "twice": True}]})
    text = page([header], facts)
    for words in ("### twice", "- `x` floating", "**Throws** Error{DTypeMismatch}.", "**Gradient** yes, with a gradient of its own", "`twice(tensor({1, 2}))` → `[2, 4]`"):
        assert words in text, (words, text)
    print("make_ops_doc: a header read, its faults named, its page and its examples written")


def main():
    verb, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("--help", [])
    root = tree.ROOT
    if verb == "--self-test":
        self_test()
    elif verb == "examples":
        header = ops_headers.parse(rest[0], (root / rest[0]).read_text(encoding="utf-8"))
        pathlib.Path(rest[1]).write_text(examples_program(header), encoding="utf-8")
    elif verb == "index":
        pathlib.Path(rest[0]).write_text(index_program([pathlib.Path(h).stem for h in rest[1:]]), encoding="utf-8")
    elif verb == "write":
        headers = ops_headers.read(root)
        (root / OUT).write_text(page(headers, Facts(catalogue_of(rest[0])), (root / TENSOR).read_text(encoding="utf-8")), encoding="utf-8")
        print(f"  {OUT}: {sum(len(h.names()) for h in headers)} functions")
    elif verb == "coverage":
        print(coverage(ops_headers.read(root), Facts(catalogue_of(rest[0]))))
    elif verb == "check":
        errors = check(root, rest[0])
        print("\n".join(errors) if errors else f"  {OUT} is what the sources give")
        return 1 if errors else 0
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
