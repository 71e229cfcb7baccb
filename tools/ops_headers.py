"""Reads the headers that declare public operations: which functions there are, what their docstrings say, and which examples they give.

A docstring is the run of /// lines above a declaration; it also covers declarations right below it that have none, if they are overloads, operators
or functions that it names.
Not here: what to make of it (make_ops_doc.py) and which spelling a table may use (check_names.py).
"""

import dataclasses
import pathlib
import re

FUNCTIONS = "votive/ops/functions"
AUTOGRAD = "votive/autograd/autograd.h"


@dataclasses.dataclass
class Example:
    line: int
    expression: str
    expected: str


@dataclasses.dataclass
class Part:
    """One docstring with what it covers."""
    line: int
    doc: list  # lines without ///, without Example lines
    examples: list
    signatures: list = dataclasses.field(default_factory=list)  # (name, text)
    types: list = dataclasses.field(default_factory=list)  # text of the structs that stand with it

    def covers(self, name):
        """Whether a declaration that follows without a docstring of its own may share this one: an overload, an operator, or a name it speaks of."""
        names = {n for n, _ in self.signatures}
        if not self.doc or name in names or name.startswith("operator") and any(n.startswith("operator") for n in names):
            return bool(self.doc)
        return re.search(rf"\b{re.escape(name)}\b", " ".join(self.doc + [e.expression for e in self.examples])) is not None


@dataclasses.dataclass
class Header:
    path: str
    opening: str
    parts: list

    @property
    def subject(self):
        return pathlib.Path(self.path).stem

    def names(self):
        """Every function, in the order of its first declaration."""
        return list(dict.fromkeys(name for part in self.parts for name, _ in part.signatures))

    def examples(self):
        return [(part, example) for part in self.parts for example in part.examples]


def paths(root):
    return [f"{FUNCTIONS}/{p.name}" for p in sorted((root / FUNCTIONS).glob("*.h"))] + ([AUTOGRAD] if (root / AUTOGRAD).exists() else [])


def without_comment(line):
    return re.sub(r"\s*//.*", "", line)


def depth_change(text, opening="{([", closing="})]"):
    text = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', "", text)
    return sum(text.count(c) for c in opening) - sum(text.count(c) for c in closing)


def function_name(statement):
    """The declared function's name, or None for a type or a variable."""
    bare = re.sub(r"^\s*template\s*<[^{;]*?>\s*(?=\w)", "", statement.replace("\n", " "), count=1)
    bare = re.sub(r"^\s*requires\s+[\w:]+(<[^>]*>)?\s*(\|\|\s*[\w:]+(<[^>]*>)?\s*)*", "", bare)
    if re.match(r"\s*(struct|class|enum|using|namespace|static_assert|friend|extern|typedef)\b", bare):
        return None
    found = re.match(r"[^(={]*?(operator\s*(\(\)|\[\]|[^\s(\w]+)|\b\w+)\s*\(", bare)
    return found[1].replace(" ", "") if found else None


def signature(statement):
    """The declaration without a body, a trailing comment or NOLINT, on one line."""
    text = " ".join(without_comment(line).strip() for line in statement.splitlines()).strip()
    depth = 0
    for i, c in enumerate(text):
        depth += (c in "(") - (c in ")")
        if c == "{" and depth == 0:
            text = text[:i].strip() + ";"
            break
    return re.sub(r"^inline ", "", re.sub(r"\s+", " ", text))


def type_text(statement):
    """A struct as a reader should see it: its public part."""
    lines, hidden = [], False
    for line in statement.splitlines():
        if re.match(r"\s*private:", line):
            hidden = True
        if re.match(r"};", line):
            hidden = False
        if not hidden and not re.match(r"\s*friend\b", line):
            lines.append(re.sub(r"\s*//\s*NOLINT.*", "", line).rstrip())
    while len(lines) > 2 and not lines[-2].strip():
        del lines[-2]
    return "\n".join(lines)


def split_doc(lines):
    """(doc, examples) of [(line number, text)]. An Example without `//` goes on in the next line."""
    doc, examples, i = [], [], 0
    while i < len(lines):
        number, text = lines[i]
        found = re.match(r"\s*Examples?:\s*(.*)", text)
        if not found:
            doc.append(text)
            i += 1
            continue
        whole = found[1]
        while "//" not in whole and i + 1 < len(lines) and not re.match(r"\s*(Example|Throws|Source|Class)\b", lines[i + 1][1]):
            i += 1
            whole += " " + lines[i][1].strip()
        expression, _, expected = whole.rpartition("//")
        if not expression:
            expression, expected = whole, ""
        examples.append(Example(number, expression.strip().rstrip(";"), expected.strip()))
        i += 1
    return doc, examples


def parse(path, text):
    lines = text.splitlines()
    opening = []
    for line in lines:
        if not line.startswith("//"):
            break
        opening.append(line[2:].strip())
    parts, part, doc, pending_types, carried = [], None, [], [], []
    i, inside = 0, False
    while i < len(lines):
        line = lines[i]
        bare = line.strip()
        if not inside:
            inside = bare.startswith("namespace votive")
            i += 1
            continue
        if re.match(r"}\s*//\s*namespace votive", bare):
            inside = False
            i += 1
            continue
        if not bare:
            part, carried = None, []
            if doc:
                raise ValueError(f"{path}:{i + 1}: a docstring before a blank line")
            i += 1
            continue
        if bare.startswith("///") and not bare.startswith("///<"):
            doc.append((i + 1, line.strip()[3:].removeprefix(" ")))
            i += 1
            continue
        if bare.startswith("//") or bare.startswith("#"):
            i += 1
            continue
        start = i
        if re.match(r"namespace \w+", bare):  # detail: not public
            depth = depth_change(without_comment(line))
            while depth > 0:
                i += 1
                depth += depth_change(without_comment(lines[i]))
            doc, i = [], i + 1
            continue
        statement, depth = [], 0
        while True:
            statement.append(lines[i])
            code = without_comment(lines[i])
            depth += depth_change(code)
            i += 1
            done = depth == 0 and re.search(r"[;}]\s*$", code)
            if done and not (code.rstrip().endswith("}") and i < len(lines) and lines[i].strip() == ";"):
                break
            if i == len(lines):
                raise ValueError(f"{path}:{start + 1}: a declaration without an end")
        whole = "\n".join(statement)
        name = function_name("\n".join(without_comment(s) for s in statement))
        trailing = re.search(r"///<\s*(.*)", whole)
        if name is None:
            part = None
            text_lines, examples = split_doc(doc)
            carried = text_lines or carried  # words above a struct are also those of a function right below that has an example alone
            shown = "\n".join(["// " + t if t else "//" for t in text_lines] + [type_text(whole)])
            if examples:  # a type with examples is documented like a function
                part = Part(start + 1, text_lines, examples, [], pending_types + [type_text(whole)])
                pending_types = []
                parts.append(part)
                part = None
            else:
                pending_types.append(shown)
            doc = []
            continue
        if doc or part is None or trailing or not part.covers(name):
            text_lines, examples = split_doc(doc + ([(i, trailing[1])] if trailing else []))
            if examples and not text_lines and part is not None and part.doc:  # the words above hold, the example is its own
                part.examples += examples
                part.signatures.append((name, signature(whole)))
                doc = []
                continue
            part = Part(start + 1, text_lines or (carried if examples else []), examples, [], pending_types)
            pending_types, carried = [], []
            parts.append(part)
        part.signatures.append((name, signature(whole)))
        doc = []
    types = [t for p in parts if p.signatures for t in p.types] + pending_types
    for part in parts:
        part.types = [] if part.signatures else part.types
    # an overload without words goes to where its name has some
    told = {name: part for part in reversed(parts) if part.doc for name, _ in part.signatures}
    for part in [p for p in parts if not p.doc and p.signatures]:
        for name, text in list(part.signatures):
            if name in told:
                told[name].signatures.append((name, text))
                part.signatures.remove((name, text))
    # a struct stands with the first function that names it
    loose = Part(len(lines), [], [], [], [])
    for shown in types:
        name = re.search(r"^(?:template[^\n]*\n)?(?:struct|class|enum class|enum|using)\s+(\w+)", shown, re.M)
        user = next((p for p in parts if name and any(re.search(rf"\b{name[1]}\b", s) for _, s in p.signatures)), loose)
        user.types.append(shown)
    parts = [p for p in [loose, *parts] if p.signatures or p.types]
    return Header(path, " ".join(opening), parts)


def read(root):
    return [parse(path, (root / path).read_text(encoding="utf-8")) for path in paths(root)]


def members(text, name):
    """(signature, doc) of each public member function of a class, but for how it is made and copied."""
    body = text[text.index(f"class {name} {{"):]
    body = body[body.index("public:") + 7:body.index("private:")]
    found, doc, statement, depth = [], [], "", 0
    for line in body.splitlines():
        bare = line.strip()
        if not bare:
            doc = []
            continue
        if bare.startswith("///") and not bare.startswith("///<"):
            doc.append(bare[3:].strip())
            continue
        code = without_comment(line).strip()
        statement = f"{statement} {code}".strip()
        depth += depth_change(code)
        if depth == 0 and re.search(r"[;}]$", code):
            trailing = re.search(r"///?<?\s*(.*)", line[len(without_comment(line)):])
            shown = signature(statement).rstrip(";") + ";"
            shown = re.sub(r"\)( const)?( noexcept)?\s*:.*;$", r")\1\2;", shown)
            if re.match(rf"(explicit )?~?{name}\(", shown) or "operator=" in shown:
                doc, statement = [], ""  # how it is made and copied
                continue
            found.append((shown, " ".join(doc) or (trailing[1] if trailing else "")))
            statement = ""
            doc = []
    return found
