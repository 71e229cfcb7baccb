#!/usr/bin/env python3
"""Compares rows, one JSON object a line as examples/ write them with --json: with the golden rows, with another program's, and with the README's table.

  compare_rows.py BUILD NAME=ROWS…         what the programs in BUILD/examples say, and what another program said; NAME as in compare_differences.tsv
  compare_rows.py golden GOLDEN COMMAND…   what one program says, on every device, and the golden rows
  compare_rows.py readme [README.md]       prints the README's table, or checks that the page has it
  compare_rows.py --self-test

A row is equal field by field: outcome, dtype, shape, values. Integers: tolerance 0. Floats: equal bits, any NaN being equal to any other (CONTRACT.md 0.2);
only where a golden row has "peer_ulp" may another program be that many ulp away, since class P and the order of a sum are our own definitions. Two errors
are equal when the other program's text speaks of the same thing (KINDS). Every other row must stand in compare_differences.tsv with exactly what the
other program says and with the contract's section; a row that is not there, says something else, is missing, or is listed and equal, has no explanation.
"""

import collections
import json
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests/golden/examples"
DIFFERENCES = pathlib.Path(__file__).with_name("compare_differences.tsv")
PROGRAMS = ("integer_ops", "half_softmax")
PEERS = ("pytorch", "candle-debug", "candle-release")

# What an error of another program must speak of to be the same as ours.
KINDS = {
    "dtype mismatch": r"dtype|type|Bool",
    "division by zero": r"(?i)zero",
    "index out of range": r"(?i)out of (range|bounds)|invalid index",
    "literal out of range": r"(?i)range|overflow",
    "integer overflow": r"(?i)overflow",
}
WIDTHS = {"f16": ("e", "H"), "bf16": (None, "H"), "f32": ("f", "I"), "f64": ("d", "Q")}

README = [  # (what the page calls it, row)
    ("u8 200 + 100", "u8 [200] + [100]"),
    ("sum of u8 [200, 100]", "sum(u8 [200, 100])"),
    ("i64 [1, 3] × 0.5", "i64 [1, 3] * 0.5"),
    ("i32 [7, −7] / [2, 2]", "i32 [7, -7] / [2, 2]"),
    ("i64 2²⁴ + 1 == 16777216.0", "i64 [16777217] == 16777216.0"),
    ("u8 1 < 256", "u8 [1] < 256"),
    ("i64 MIN divided by −1, truncating", "div_trunc(i64 [MIN], [-1])"),
    ("[10, 20, 30] at u8 [1, 0, 1]", "f32 [10, 20, 30][u8 [1, 0, 1]]"),
    ("[0, …, 255] at u8 255", "f32 [0, ..., 255] at u8 [255]"),
    ("f32 [300, −1] to u8", "f32 [300, -1] to u8"),
    ("sum of 4096 ones, bf16", "sum of 4096 ones, bf16, last axis"),
    ("softmax row sum, bf16 1×4096", "softmax of 1x4096 equal logits, bf16, last axis"),
]


def shown(path):
    path = pathlib.Path(path).resolve()
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


# ---------------------------------------------------------------------------------------------------------------------------- one row


def number(dtype, value):
    """A value of a row as a Python number."""
    if dtype not in WIDTHS:
        return int(value)
    form, bits = WIDTHS[dtype]
    if form is None:  # bf16 is the upper half of f32
        form, bits, value = "f", "I", value + "0000"
    return struct.unpack(form, struct.pack(bits, int(value, 16)))[0]


def numeral(dtype, value):
    """The shortest decimal that gives the value back."""
    if dtype == "bool":
        return "true" if value == "1" else "false"
    x = number(dtype, value)
    if isinstance(x, int):
        return str(x)
    if dtype == "f64" or x != x or x in (float("inf"), float("-inf")):
        return repr(x)
    if x == int(x) and abs(x) < 1e16:
        return "-0" if value[0] == "8" and x == 0 else str(int(x))
    return next(t for t in (f"{x:.{digits}g}" for digits in range(1, 18)) if struct.pack("f", float(t)) == struct.pack("f", x))


def nested(dtype, shape, values):
    if not shape:
        return numeral(dtype, values[0])
    step = len(values) // shape[0] if shape[0] else 0
    return "[" + ", ".join(nested(dtype, shape[1:], values[i * step:(i + 1) * step]) for i in range(shape[0])) + "]"


def text(row):
    """A row's outcome in one line, every field of it."""
    if row["outcome"] == "value":
        return f"{row['dtype']}{row['shape']} {nested(row['dtype'], row['shape'], row['values'])}"
    return row["outcome"] + (f": {row['text']}" if row.get("text") else "")


def ordered(dtype, value):
    """Floats numbered in their order, so that neighbours differ by 1."""
    bits, sign = int(value, 16), 1 << 4 * len(value) - 1
    return bits if bits < sign else sign - bits


def close(dtype, ours, theirs, ulp):
    if dtype not in WIDTHS:
        return ours == theirs
    a, b = number(dtype, ours), number(dtype, theirs)
    if a != a or b != b:
        return a != a and b != b
    return ours == theirs or ulp > 0 and abs(ordered(dtype, ours) - ordered(dtype, theirs)) <= ulp


def equal(ours, theirs, ulp=0):
    if ours["outcome"] != theirs["outcome"]:
        return False
    if ours["outcome"] == "error":
        return ours["error"] == theirs["error"] if "error" in theirs else bool(re.search(KINDS[ours["error"]], theirs["text"]))
    return (ours["dtype"], ours["shape"], len(ours["values"])) == (theirs["dtype"], theirs["shape"], len(theirs["values"])) and all(
        close(ours["dtype"], a, b, ulp) for a, b in zip(ours["values"], theirs["values"]))


# ------------------------------------------------------------------------------------------------------------------------------ files


def read_rows(lines):
    rows = {}
    for line in lines:
        row = json.loads(line)
        if row["row"] in rows:
            sys.exit(f"two rows are called {row['row']!r}")
        rows[row["row"]] = row
    return rows


def of_command(command):
    """{device: rows} of one example program."""
    answer = subprocess.run([*map(str, command), "--json"], capture_output=True, text=True)
    lines = collections.defaultdict(list)
    for line in answer.stdout.splitlines():
        lines[json.loads(line)["device"]].append(line)
    if answer.returncode or not lines:
        sys.exit(f"{command[-1]} ended with {answer.returncode}: {answer.stderr}")
    return {device: read_rows(of) for device, of in lines.items()}


def golden_rows():
    return read_rows(line for program in PROGRAMS for line in (GOLDEN / f"{program}.jsonl").read_text(encoding="utf-8").splitlines())


def of_programs(build):
    """The rows of both programs, after every device was seen to give the golden ones."""
    rows = {}
    for program in PROGRAMS:
        path = pathlib.Path(build) / "examples" / program
        if against_golden(GOLDEN / f"{program}.jsonl", [path]):
            sys.exit(f"{shown(path)} does not give the golden rows")
        rows |= of_command([path])["cpu"]
    return rows


def read_differences(lines):
    """[(peers, row or what it begins with, section, expected, reason)]"""
    entries = []
    for number_of_line, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            fields = line.rstrip("\n").split("\t")
            if len(fields) != 5 or not all(fields):
                sys.exit(f"{DIFFERENCES.name}:{number_of_line}: not five fields parted by tabs")
            entries.append(fields)
    return entries


def explanation(entries, peer, row):
    """The entry of one row, or None. `candle` is both of its builds; a row that ends in * stands for all that begin so and have no entry of their own."""
    of_peer = [entry for entry in entries if peer == entry[0] or peer.startswith(entry[0] + "-")]
    own = [entry for entry in of_peer if entry[1] == row]
    return (own + [entry for entry in of_peer if entry[1][-1] == "*" and row.startswith(entry[1][:-1])] + [None])[0]


# ---------------------------------------------------------------------------------------------------------------------------- reports


def compare(peer, ours, theirs, golden, entries):
    """(equal, {section: count}, [what has no explanation])"""
    same, sections, unexplained, used = 0, collections.Counter(), [], set()
    for row in ours:
        entry = explanation(entries, peer, row)
        if row not in theirs:
            unexplained.append(f"{row}: {peer} has no such row")
            continue
        is_equal, says = equal(ours[row], theirs[row], golden.get(row, {}).get("peer_ulp", 0)), text(theirs[row])
        if entry:
            used.add(tuple(entry))
        if is_equal and not entry:
            same += 1
        elif entry and not is_equal and says == entry[3]:
            sections[entry[2]] += 1
        elif entry:
            unexplained.append(f"{row}: {peer} says {says}; listed is {entry[3]}" + (" and the row is equal" if is_equal else ""))
        else:
            unexplained.append(f"{row}: {text(ours[row])}; {peer} says {says}")
    unexplained += [f"{row}: only {peer} has this row" for row in theirs if row not in ours]
    unexplained += [f"{entry[1]}: listed for {entry[0]}, and no row is called so" for entry in entries
                    if tuple(entry) not in used and (peer == entry[0] or peer.startswith(entry[0] + "-"))]
    return same, sections, unexplained


def report(peer, ours, theirs):
    golden, entries = golden_rows(), read_differences(DIFFERENCES.read_text(encoding="utf-8").splitlines())
    same, sections, unexplained = compare(peer, ours, theirs, golden, entries)
    by_section = ", ".join(f"{section}: {count}" for section, count in sorted(sections.items(), key=lambda item: [int(n) for n in item[0].split(".")]))
    absent = sum(row["outcome"] == "absent" for row in theirs.values())
    print(f"  {peer}: {len(ours)} rows, {same} equal, {sum(sections.values())} intended to differ ({absent} of them absent there), "
          f"{len(unexplained)} unexplained")
    print(f"    intended, by section of CONTRACT.md: {by_section or 'none'}")
    for line in unexplained:
        print(f"    unexplained: {line}")
    return 1 if unexplained else 0


def against_golden(path, command):
    golden, wrong = read_rows(pathlib.Path(path).read_text(encoding="utf-8").splitlines()), 0
    devices = of_command(command)
    for device, rows in devices.items():
        for row in [*golden, *(row for row in rows if row not in golden)]:
            if row not in rows or row not in golden or not equal(golden[row], rows[row], golden[row].get("ulp", 0)):
                says = text(rows[row]) if row in rows else "nothing"
                print(f"  {row}, {device}: {says}, golden: {text(golden[row]) if row in golden else 'nothing'}")
                wrong += 1
    if len(devices) < 2:
        print(f"  only {', '.join(devices)}: two devices at least are to be compared")
        wrong += 1
    if not wrong:
        print(f"  {len(golden)} rows on {' and '.join(devices)}: as golden")
    return wrong


def brief(row, says):
    """For the page: without shape and text of errors; one of what has one element, and of the equal sums of half_softmax."""
    if says.startswith("killed: "):
        return f"process killed, {says[8:]}"
    value = re.match(r"([a-z]+\d*)\[[\d, ]*\] (.*)$", says)
    if not value:
        return says.split(":")[0]
    alike = re.match(r"\[([^,\[\]]+)(?:, \1)*\]$" if " of " in row else r"\[([^,\[\]]+)\]$", value[2])
    return f"{value[1]} {alike[1] if alike else value[2]}"


def readme_table():
    golden, entries = golden_rows(), read_differences(DIFFERENCES.read_text(encoding="utf-8").splitlines())
    lines = ["| | Votive, cpu = reference | PyTorch 2.15 | candle 0.11 debug | candle 0.11 release |", "|---|---|---|---|---|"]
    for name, row in README:
        ours = brief(row, text(golden[row]))
        cells = [brief(row, entry[3]) if (entry := explanation(entries, peer, row)) else ours for peer in PEERS]
        lines.append(f"| {name} | **{ours}** | " + " | ".join(cells) + " |")
    pytorch, debug, release = (sum(explanation(entries, peer, row) is None for row in golden) for peer in PEERS)
    loose = [row["peer_ulp"] for row in golden.values() if "peer_ulp" in row]
    lines += ["", f"Of {len(golden)} such rows PyTorch 2.15.0 gives {pytorch} alike, candle 0.11.0 {debug} (debug) and {release} (release): outcome, dtype, shape "
              f"and every value to the bit, but", f"up to {max(loose)} ulp in the {len(loose)} rows where another `exp` or another order of additions is as good as ours."]
    return "\n".join(lines) + "\n"


def self_test():
    def value(values, dtype="i64"):
        return {"row": "r", "outcome": "value", "dtype": dtype, "shape": [len(values)], "values": values}

    ours = {"r": value(["3"])}
    entry = ["candle", "r", "2.1", "i64[1] 4", "why"]
    listed = [["candle", "r", "2.1", "i64[1] [4]", "why"]]
    assert compare("candle-debug", ours, {"r": value(["3"])}, {}, []) == (1, {}, [])
    assert compare("candle-debug", ours, {"r": value(["4"])}, {}, listed) == (0, {"2.1": 1}, [])
    for theirs, entries in (({"r": value(["4"])}, []), ({"r": value(["5"])}, listed), ({"r": value(["3"])}, listed), ({}, []), ({"r": value(["4"], "i32")}, listed),
                            ({"r": value(["3"]), "s": value(["3"])}, []), ({"r": {"row": "r", "outcome": "panics", "text": "4"}}, listed), ({"r": value(["4"])}, [entry])):
        assert len(compare("candle-debug", ours, theirs, {}, entries)[2]) == 1, (theirs, entries)
    assert len(compare("pytorch", ours, {"r": value(["4"])}, {}, listed)[2]) == 1
    assert len(compare("candle-debug", ours, {"r": value(["3"])}, {}, [["candle", "gone", "2.1", "x", "why"]])[2]) == 1
    one, next_one, minus_zero = value(["3f800000"], "f32"), value(["3f800001"], "f32"), value(["80000000"], "f32")
    assert not equal(one, next_one) and equal(one, next_one, 1) and not equal(one, value(["3f800002"], "f32"), 1)
    assert equal(value(["7fc00000"], "f32"), value(["ffffffff"], "f32")) and not equal(value(["00000000"], "f32"), minus_zero)
    assert equal({"outcome": "error", "error": "division by zero"}, {"outcome": "error", "text": "ZeroDivisionError"})
    assert not equal({"outcome": "error", "error": "division by zero"}, {"outcome": "error", "text": "not implemented for 'UInt32'"})
    assert text(minus_zero) == "f32[1] [-0]" and text(value(["4580"], "bf16")) == "bf16[1] [4096]" and text(value(["3dcccccd"], "f32")) == "f32[1] [0.1]"
    print("compare_rows: what differs without explanation is named, in nine ways")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if sys.argv[1:2] == ["golden"] and len(sys.argv) > 3:
        return 1 if against_golden(sys.argv[2], sys.argv[3:]) else 0
    if sys.argv[1:2] == ["readme"]:
        table = readme_table()
        if len(sys.argv) == 2:
            print(table, end="")
        elif table not in pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"):
            print(f"the page has not this table (tools/compare_rows.py readme):\n{table}")
            return 1
        return 0
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ours, code = of_programs(sys.argv[1]), 0
    for peer, _, path in (argument.partition("=") for argument in sys.argv[2:]):
        code |= report(peer, ours, read_rows(pathlib.Path(path).read_text(encoding="utf-8").splitlines()))
    return code


if __name__ == "__main__":
    sys.exit(main())
