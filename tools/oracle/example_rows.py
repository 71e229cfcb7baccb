#!/usr/bin/env python3
"""Writes tests/golden/examples/: what the rows of examples/ must be, derived from CONTRACT.md by Python's integers and fractions alone.

Nothing here asks Votive or any other library. Integers are computed exactly and then taken modulo 2^width; floats are fractions, rounded to nearest even by
`rounded` below; sums follow the canonical tree of 3.2. Each row names the section, or the row of the table of section 10, that says what it must be.

Softmax of ramps has exponentials in it. Their true values are computed to 60 digits. In f16 and bf16 that fixes the result: the script fails if any true
value is so near the middle between two halves that an f32 computation within the bound of 4.1 could round it the other way. In f32 the row sum is fixed up to
that bound and the bound of its own sum (3.3), together ULPS: "ulp". Another program may sum in another order: "peer_ulp".
"""

import decimal
import json
import pathlib
import struct
from fractions import Fraction

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/examples"
INTEGERS = {"bool": (1, False), "u8": (8, False), "i8": (8, True), "u32": (32, False), "i32": (32, True), "u64": (64, False), "i64": (64, True)}
FLOATS = {"f16": (11, -24, 5), "bf16": (8, -133, 8), "f32": (24, -149, 8)}  # digits, exponent of the least subnormal, bits of the exponent
MAX, MIN = 2**63 - 1, -2**63
INF, NAN, MINUS_INF = "inf", "nan", "-inf"


def wrapped(dtype, value):
    width, signed = INTEGERS[dtype]
    value %= 1 << width
    return value - (1 << width) if signed and value >> width - 1 else value


def saturated(dtype, value):
    """Section 6: truncate toward zero, saturate, NaN → 0."""
    width, signed = INTEGERS[dtype]
    least, greatest = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    if value == NAN:
        return 0
    return greatest if value == INF else min(max(int(Fraction(value)), least), greatest)


def rounded(dtype, x):
    """The float of `dtype` nearest to a fraction, ties to even, as a fraction. Nothing here comes near overflow."""
    digits, least, _ = FLOATS[dtype]
    if x == 0:
        return Fraction(0)
    exponent = max(_exponent(abs(x)) - digits + 1, least)
    scaled = abs(x) / Fraction(2) ** exponent
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    return (whole if x > 0 else -whole) * Fraction(2) ** exponent


def _exponent(x):
    """e with 2^e ≤ x < 2^(e+1)."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x >= Fraction(2) ** e else e - 1


def bits(dtype, x):
    """A value that `dtype` has, as hexadecimal bits."""
    digits, least, exponent_bits = FLOATS[dtype]
    width = digits + exponent_bits
    infinity = ((1 << exponent_bits) - 1) << digits - 1
    if isinstance(x, str):
        value = {INF: infinity, MINUS_INF: infinity | 1 << width - 1, NAN: infinity | 1 << digits - 2}[x]
    else:
        assert rounded(dtype, x) == x, (dtype, x)
        magnitude = abs(x)
        exponent = max(_exponent(magnitude) - digits + 1, least) if magnitude else least
        whole = int(magnitude / Fraction(2) ** exponent)
        value = whole + ((exponent - least) << digits - 1)  # the leading digit of a normal number carries into the exponent
        value |= (1 << width - 1) if x < 0 else 0
    return f"{value:0{width // 4}x}"


class Rows:
    """One golden file."""

    def __init__(self):
        self.lines = []

    def _add(self, row, contract, **fields):
        self.lines.append(json.dumps({"row": row, "contract": contract, **fields}))

    def integers(self, row, contract, dtype, values, shape=None):
        self._add(row, contract, outcome="value", dtype=dtype, shape=[len(values)] if shape is None else shape,
                  values=[str(wrapped(dtype, v)) for v in values])

    def floats(self, row, contract, dtype, values, shape=None, **tolerance):
        numbers = [v if isinstance(v, str) else rounded(dtype, Fraction(v)) for v in values]
        self._add(row, contract, outcome="value", dtype=dtype, shape=[len(values)] if shape is None else shape,
                  values=[bits(dtype, v) for v in numbers], **tolerance)

    def error(self, row, contract, kind):
        self._add(row, contract, outcome="error", error=kind)

    def write(self, name):
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / name).write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(self.lines)} rows")


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def f32(x):
    return rounded("f32", Fraction(x))


def quotient(a, b):
    """2.1: both to f32, then IEEE division."""
    a, b = f32(a), f32(b)
    if b == 0:
        return NAN if a == 0 else INF if a > 0 else MINUS_INF
    return f32(a / b)


def mean(values):
    """3.1: the exact sum and the count, each to f32, one division."""
    return quotient(sum(values), len(values))


def integer_ops():
    r = Rows()
    signs = list(zip([7, -7, 7, -7], [2, 2, -2, -2]))
    r.floats("i64 [7, -7, 7, -7] / [2, 2, -2, -2]", "2.1, 10 row 8", "f32", [quotient(a, b) for a, b in signs])
    r.integers("div_trunc(i64 [7, -7, 7, -7], [2, 2, -2, -2])", "2.1", "i64", [truncated(a, b) for a, b in signs])
    r.integers("floor_div(i64 [7, -7, 7, -7], [2, 2, -2, -2])", "2.1, 10 row 9", "i64", [a // b for a, b in signs])
    r.integers("i64 [7, -7, 7, -7] % [2, 2, -2, -2]", "2.1, 10 row 9", "i64", [a % b for a, b in signs])
    r.integers("fmod(i64 [7, -7, 7, -7], [2, 2, -2, -2])", "2.1, 10 row 9", "i64", [a - b * truncated(a, b) for a, b in signs])
    r.floats("i32 [7, -7] / [2, 2]", "2.1, 10 row 8", "f32", [quotient(7, 2), quotient(-7, 2)])
    r.floats("u32 [7] / [2]", "2.1", "f32", [quotient(7, 2)])
    r.integers("div_trunc(u32 [7], [2])", "2.1", "u32", [truncated(7, 2)])

    half, seven_tenths = Fraction(1, 2), f32(0.7)  # 1.3: the literal is rounded first
    for dtype in ("i64", "i32", "u8"):
        r.floats(f"{dtype} [1, 3] * 0.5", "1.3, 10 row 1", "f32", [1 * half, 3 * half])
    r.floats("i64 [5] + 0.7", "1.3", "f32", [5 + seven_tenths])
    r.floats("i64 [7, -7] / 2.0", "1.3", "f32", [quotient(7, 2), quotient(-7, 2)])
    r.integers("i64 [2, 3] > 2.5", "2.5", "bool", [2 > 2.5, 3 > 2.5])
    r.floats("u32 [5, 0] - 1.0", "1.3, 10 row 3", "f32", [5 - 1, 0 - 1])
    r.integers("u32 [5, 0] - 1", "1.3", "u32", [5 - 1, 0 - 1])
    r.error("u8 [1] + 300", "1.3, 10 row 6", "literal out of range")
    r.integers("u8 [1] < 256", "2.5, 10 row 7", "bool", [1 < 256])

    n = 2**24 + 1
    r.floats("i64 [16777217] * 1.0", "1.3", "f32", [f32(n)])
    r.floats("i64 [16777217] * 0.5", "1.3, 10 row 2", "f32", [f32(n) * half])
    r.floats("i64 [16777217] to f32", "6", "f32", [f32(n)])
    r.error("i64 [16777217] + f32 [0]", "1.2", "dtype mismatch")
    r.integers("i64 [16777217] == 16777216.0", "2.5", "bool", [n == 16777216])
    r.integers("sum(i64 [16777216, 1])", "3.1", "i64", [2**24 + 1], [])
    r.floats("mean(i64 [16777217, 16777219])", "3.1", "f32", [mean([n, n + 2])], [])

    r.integers("u8 [200] + [100]", "2.1, 10 row 4", "u8", [200 + 100])
    r.integers("u8 [3] - [5]", "2.1", "u8", [3 - 5])
    r.integers("u8 [16] * [17]", "2.1", "u8", [16 * 17])
    r.integers("u32 [4294967295] + [1]", "2.1", "u32", [4294967295 + 1])
    r.integers("u32 [0] - [1]", "2.1", "u32", [0 - 1])
    r.integers("u32 [65536] * [65537]", "2.1", "u32", [65536 * 65537])
    r.integers("i64 [MAX] + [1]", "2.1", "i64", [MAX + 1])
    r.integers("i64 [MIN] - [1]", "2.1", "i64", [MIN - 1])
    r.integers("i64 [MAX] * [2]", "2.1", "i64", [MAX * 2])
    r.integers("neg(i64 [MIN])", "2.1", "i64", [-MIN])
    r.integers("abs(i64 [MIN])", "2.1, 10 row 13", "i64", [abs(MIN)])
    r.error("checked: u8 [200] + [100]", "2.1, 10 row 4", "integer overflow")

    r.integers("sum(u8 [200, 100])", "3.1, 10 row 5", "u64", [200 + 100], [])
    r.integers("sum(u8 4096 x 255)", "3.1", "u64", [4096 * 255], [])
    r.integers("sum(u32 [4294967295, 1])", "3.1", "u64", [4294967295 + 1], [])
    r.integers("sum(i32 [2147483647, 1])", "3.1", "i64", [2147483647 + 1], [])
    r.integers("sum(bool [1, 0, 1])", "3.1", "i64", [1 + 0 + 1], [])
    r.floats("mean(i32 [1, 2])", "3.1, 10 row 38", "f32", [mean([1, 2])], [])
    r.floats("mean(u32 [2, 4])", "3.1", "f32", [mean([2, 4])], [])

    for dtype in ("f32", "i64"):
        r.floats(f"{dtype} [1, 0, -1] / [0, 0, 0]", "2.1, 2.2", "f32", [quotient(a, 0) for a in (1, 0, -1)])
    for row in ("div_trunc(i64 [1], [0])", "floor_div(i64 [1], [0])", "i64 [1] % [0]", "fmod(i64 [1], [0])", "div_trunc(u32 [1], [0])"):
        r.error(row, "2.1, 10 rows 10 and 11", "division by zero")
    r.floats("i64 [MIN] / [-1]", "2.1", "f32", [quotient(MIN, -1)])
    r.integers("div_trunc(i64 [MIN], [-1])", "2.1, 10 row 12", "i64", [truncated(MIN, -1)])
    r.integers("div_trunc(i32 [MIN], [-1])", "2.1, 10 row 12", "i32", [truncated(-2**31, -1)])
    r.integers("floor_div(i64 [MIN], [-1])", "2.1, 10 row 12", "i64", [MIN // -1])
    r.integers("i64 [MIN] % [-1]", "2.1", "i64", [MIN % -1])
    r.integers("fmod(i64 [MIN], [-1])", "2.1", "i64", [MIN - -1 * truncated(MIN, -1)])

    x = [10, 20, 30]
    for dtype in ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"):
        r.floats(f"f32 [10, 20, 30] at {dtype} [2, 0]", "5.1", "f32", [x[2], x[0]])
    r.error("f32 [10, 20, 30] at f32 [2, 0]", "5.1", "dtype mismatch")
    r.error("f32 [10, 20, 30] at bool [1, 0]", "5.1", "dtype mismatch")
    r.floats("f32 [10, 20, 30] at i64 [-1]", "5.1, 10 row 46", "f32", [x[-1]])
    r.error("f32 [10, 20, 30] at i64 [3]", "5.2, 10 row 45", "index out of range")
    r.floats("f32 [0, ..., 255] at u8 [255]", "5.1, 10 row 47", "f32", [255])
    r.floats("gather(f32 [[10, 20], [30, 40]], i32 [[1, 0]])", "5.1", "f32", [30, 20], [1, 2])
    r.error("embedding(f32 [[10], [20]], i64 [-1])", "5.1, 10 row 46", "index out of range")

    r.floats("f32 [10, 20, 30][u8 [1, 0, 1]]", "5.1, 10 row 48", "f32", [x[i] for i in (1, 0, 1)])
    r.floats("f32 [10, 20, 30][bool [1, 0, 1]]", "5.5", "f32", [v for v, keep in zip(x, (1, 0, 1)) if keep])
    r.error("masked_select(f32 [10, 20, 30], u8 [1, 0, 1])", "5.1", "dtype mismatch")
    r.error("where(u8 [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", "2.5", "dtype mismatch")
    r.floats("where(bool [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", "2.5", "f32", [v if keep else 0 for v, keep in zip(x, (1, 0, 1))])
    r.integers("i64 [1, 2] == [1, 3]", "2.5", "bool", [1 == 1, 2 == 3])
    r.error("bool [1, 0, 1] + bool [1, 0, 1]", "1.2, 10 row 14", "dtype mismatch")

    def position(choose, values):
        return [values.index(choose(values))]  # the lowest index

    r.integers("argmax(i64 [1, 5, 5])", "3.1", "i64", position(max, [1, 5, 5]), [])
    r.integers("argmax(i64 [2^53, 2^53 + 1])", "3.1", "i64", position(max, [2**53, 2**53 + 1]), [])
    r.integers("argmin(i64 [3, MIN, MAX])", "3.1", "i64", position(min, [3, MIN, MAX]), [])
    r.integers("argmax(u8 [0, 255])", "3.1", "i64", position(max, [0, 255]), [])
    r.integers("max(i64 [MIN, MAX])", "3.1", "i64", [max(MIN, MAX)], [])
    r.integers("argmax(f32 [1, NaN, 3])", "3.1, 10 row 41", "i64", [1], [])  # NaN is the extreme
    r.floats("max(f32 [1, NaN, 3])", "3.1", "f32", [NAN], [])

    r.integers("f32 [2.9, -2.9] to i64", "6", "i64", [saturated("i64", f32(2.9)), saturated("i64", f32(-2.9))])
    r.integers("f32 [300, -1] to u8", "6, 10 row 29", "u8", [saturated("u8", v) for v in (300, -1)])
    r.integers("f32 [300, -300] to i8", "6", "i8", [saturated("i8", v) for v in (300, -300)])
    r.integers("f32 [NaN, 3e9, -3e9] to i32", "6, 10 row 30", "i32", [saturated("i32", v) for v in (NAN, 3e9, -3e9)])
    r.integers("f32 [-1, inf] to u32", "6", "u32", [saturated("u32", v) for v in (-1, INF)])
    r.integers("f32 [NaN, 1e20, -1e20] to i64", "6", "i64", [saturated("i64", v) for v in (NAN, f32(1e20), f32(-1e20))])
    r.integers("i64 [300, -1] to u8", "6", "u8", [300, -1])
    r.write("integer_ops.jsonl")


LAYOUTS = ("last axis", "first axis", "middle axis", "last axis of a transposed view", "first axis of a transposed view", "every second element",
           "backwards in memory", "one row, broadcast")
# In units of 2^-24: 4.1 with |x − m| and D below 8, K_exp 1.5, d(4096) = 23; and 3.3 for the sum of the row, 23.
SOFTMAX_UNITS = 8 + 8 + 4 * 1.5 + 23 + 3
ULPS = int(SOFTMAX_UNITS + 23)


def canonical_sum(values):
    """3.2 in f32. Absent elements are skipped, which is what adding −0 does. One chunk: n up to 4096."""
    def add(a, b):
        return b if a is None else a if b is None else f32(a + b)

    assert len(values) <= 4096
    lanes = []
    for lane in range(32):
        steps = values[lane::32]
        groups = []
        for g in range(8):
            total = None
            for v in steps[16 * g:16 * g + 16]:
                total = add(total, v)
            groups.append(total)
        lanes.append(add(add(add(groups[0], groups[1]), add(groups[2], groups[3])), add(add(groups[4], groups[5]), add(groups[6], groups[7]))))
    for w in (16, 8, 4, 2, 1):
        for lane in range(w):
            lanes[lane] = add(lanes[lane], lanes[lane + w])
    return lanes[0]


def softmax(dtype, logits):
    """4.1: the true values, rounded once. Fails where a computation within the bound could round otherwise."""
    greatest = max(logits)
    exponentials = {x: Fraction((decimal.Decimal((x - greatest).numerator) / (x - greatest).denominator).exp()) for x in set(logits)}
    total = sum(exponentials[x] for x in logits)
    result = {x: rounded(dtype, e / total) for x, e in exponentials.items()}
    if dtype != "f32":
        for x, e in exponentials.items():
            slack = Fraction(SOFTMAX_UNITS) * e / total / 2**24
            assert rounded(dtype, e / total - slack) == rounded(dtype, e / total + slack), f"{dtype}: {x} is too near a tie"
    return [result[x] for x in logits]


def sums(total, rows, layout):
    """One sum a row, and three on the middle axis: values and shape."""
    return ([total] * rows * 3, [rows, 3]) if layout == "middle axis" else ([total] * rows, [rows])


def half_softmax():
    decimal.getcontext().prec = 60
    r = Rows()
    for dtype in FLOATS:
        for n in (256, 257, 4096):
            total = rounded(dtype, canonical_sum([Fraction(1)] * n))  # f32 accumulator, one rounding
            for layout in LAYOUTS:
                r.floats(f"sum of {n} ones, {dtype}, {layout}", "3.1, 10 row 33", dtype, *sums(total, 2, layout))
    for dtype in FLOATS:
        for name, logit in (("equal logits", lambda k: Fraction(0)), ("ramps", lambda k: Fraction(k % 64, 8))):
            for rows, n in ((4, 2048), (1, 4096)):
                total = canonical_sum(softmax(dtype, [logit(k) for k in range(n)]))
                tolerance = {} if name == "equal logits" else {"peer_ulp": ULPS} | ({"ulp": ULPS} if dtype == "f32" else {})
                for layout in LAYOUTS:
                    r.floats(f"softmax of {rows}x{n} {name}, {dtype}, {layout}", "4.1, 10 row 35", "f32", *sums(total, rows, layout), **tolerance)
    r.write("half_softmax.jsonl")


def check_rounding():
    """`rounded` and `bits` against the processor's own f32 and f16."""
    for k in range(-3000, 3000):
        x = k / 7 * 2.0 ** (k % 40 - 20)
        assert bits("f32", rounded("f32", Fraction(x))) == f"{struct.unpack('I', struct.pack('f', x))[0]:08x}", x
        y = k / 700
        assert bits("f16", rounded("f16", Fraction(y))) == f"{struct.unpack('H', struct.pack('e', y))[0]:04x}", y


if __name__ == "__main__":
    check_rounding()
    integer_ops()
    half_softmax()
