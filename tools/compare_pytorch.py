#!/usr/bin/env python3
"""The rows of examples/integer_ops and examples/half_softmax in PyTorch, compared field by field with what those programs say.

  compare_pytorch.py [BUILD]     BUILD holds the two programs (default: build/release); ends with 1 when a row has no explanation
  compare_pytorch.py --rows      what PyTorch says, one object a line, as the programs' own --json

Needs torch (bench/peers/build.sh CACHE python torch, then CACHE/venv/bin/python tools/compare_pytorch.py). Each row runs in a process of its own, because
an integer division by PyTorch can end the process. A row is written as PyTorch's documentation says; what it has no operation for is "absent".
"""

import json
import os
import pathlib
import signal
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare_rows

try:
    import torch
except ImportError:
    sys.exit("torch is not here: bench/peers/build.sh CACHE python torch, then CACHE/venv/bin/python tools/compare_pytorch.py")

NAMES = {torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8", torch.uint16: "u16", torch.int16: "i16", torch.uint32: "u32", torch.int32: "i32",
         torch.uint64: "u64", torch.int64: "i64", torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
MAX, MIN = 2**63 - 1, -2**63
NAN, INF = float("nan"), float("inf")


def t(dtype, values):
    return torch.tensor(values, dtype=DTYPES[dtype])


def integer_rows():
    """(row, what computes it or None where PyTorch has no such operation); the rows of examples/integer_ops.cpp in its order."""
    a, b = [7, -7, 7, -7], [2, 2, -2, -2]
    one, zero, least, minus_one = [1], [0], [MIN], [-1]
    x = t("f32", [10, 20, 30])
    wide = t("i64", [16777217])

    def div(rounding, dtype, left, right):
        return lambda: torch.div(t(dtype, left), t(dtype, right), rounding_mode=rounding)

    yield "i64 [7, -7, 7, -7] / [2, 2, -2, -2]", lambda: t("i64", a) / t("i64", b)
    yield "div_trunc(i64 [7, -7, 7, -7], [2, 2, -2, -2])", div("trunc", "i64", a, b)
    yield "floor_div(i64 [7, -7, 7, -7], [2, 2, -2, -2])", lambda: t("i64", a) // t("i64", b)
    yield "i64 [7, -7, 7, -7] % [2, 2, -2, -2]", lambda: t("i64", a) % t("i64", b)
    yield "fmod(i64 [7, -7, 7, -7], [2, 2, -2, -2])", lambda: torch.fmod(t("i64", a), t("i64", b))
    yield "i32 [7, -7] / [2, 2]", lambda: t("i32", [7, -7]) / t("i32", [2, 2])
    yield "u32 [7] / [2]", lambda: t("u32", [7]) / t("u32", [2])
    yield "div_trunc(u32 [7], [2])", div("trunc", "u32", [7], [2])

    yield "i64 [1, 3] * 0.5", lambda: t("i64", [1, 3]) * 0.5
    yield "i32 [1, 3] * 0.5", lambda: t("i32", [1, 3]) * 0.5
    yield "u8 [1, 3] * 0.5", lambda: t("u8", [1, 3]) * 0.5
    yield "i64 [5] + 0.7", lambda: t("i64", [5]) + 0.7
    yield "i64 [7, -7] / 2.0", lambda: t("i64", [7, -7]) / 2.0
    yield "i64 [2, 3] > 2.5", lambda: t("i64", [2, 3]) > 2.5
    yield "u32 [5, 0] - 1.0", lambda: t("u32", [5, 0]) - 1.0
    yield "u32 [5, 0] - 1", lambda: t("u32", [5, 0]) - 1
    yield "u8 [1] + 300", lambda: t("u8", [1]) + 300
    yield "u8 [1] < 256", lambda: t("u8", [1]) < 256

    yield "i64 [16777217] * 1.0", lambda: wide * 1.0
    yield "i64 [16777217] * 0.5", lambda: wide * 0.5
    yield "i64 [16777217] to f32", lambda: wide.to(torch.float32)
    yield "i64 [16777217] + f32 [0]", lambda: wide + t("f32", [0])
    yield "i64 [16777217] == 16777216.0", lambda: wide == 16777216.0
    yield "sum(i64 [16777216, 1])", lambda: t("i64", [16777216, 1]).sum()
    yield "mean(i64 [16777217, 16777219])", lambda: t("i64", [16777217, 16777219]).mean()

    yield "u8 [200] + [100]", lambda: t("u8", [200]) + t("u8", [100])
    yield "u8 [3] - [5]", lambda: t("u8", [3]) - t("u8", [5])
    yield "u8 [16] * [17]", lambda: t("u8", [16]) * t("u8", [17])
    yield "u32 [4294967295] + [1]", lambda: t("u32", [4294967295]) + t("u32", [1])
    yield "u32 [0] - [1]", lambda: t("u32", [0]) - t("u32", [1])
    yield "u32 [65536] * [65537]", lambda: t("u32", [65536]) * t("u32", [65537])
    yield "i64 [MAX] + [1]", lambda: t("i64", [MAX]) + t("i64", [1])
    yield "i64 [MIN] - [1]", lambda: t("i64", [MIN]) - t("i64", [1])
    yield "i64 [MAX] * [2]", lambda: t("i64", [MAX]) * t("i64", [2])
    yield "neg(i64 [MIN])", lambda: -t("i64", [MIN])
    yield "abs(i64 [MIN])", lambda: t("i64", [MIN]).abs()
    yield "checked: u8 [200] + [100]", None

    yield "sum(u8 [200, 100])", lambda: t("u8", [200, 100]).sum()
    yield "sum(u8 4096 x 255)", lambda: torch.full((4096,), 255, dtype=torch.uint8).sum()
    yield "sum(u32 [4294967295, 1])", lambda: t("u32", [4294967295, 1]).sum()
    yield "sum(i32 [2147483647, 1])", lambda: t("i32", [2147483647, 1]).sum()
    yield "sum(bool [1, 0, 1])", lambda: t("bool", [1, 0, 1]).sum()
    yield "mean(i32 [1, 2])", lambda: t("i32", [1, 2]).mean()
    yield "mean(u32 [2, 4])", lambda: t("u32", [2, 4]).mean()

    yield "f32 [1, 0, -1] / [0, 0, 0]", lambda: t("f32", [1, 0, -1]) / t("f32", [0, 0, 0])
    yield "i64 [1, 0, -1] / [0, 0, 0]", lambda: t("i64", [1, 0, -1]) / t("i64", [0, 0, 0])
    yield "div_trunc(i64 [1], [0])", div("trunc", "i64", one, zero)
    yield "floor_div(i64 [1], [0])", lambda: t("i64", one) // t("i64", zero)
    yield "i64 [1] % [0]", lambda: t("i64", one) % t("i64", zero)
    yield "fmod(i64 [1], [0])", lambda: torch.fmod(t("i64", one), t("i64", zero))
    yield "div_trunc(u32 [1], [0])", div("trunc", "u32", one, zero)

    yield "i64 [MIN] / [-1]", lambda: t("i64", least) / t("i64", minus_one)
    yield "div_trunc(i64 [MIN], [-1])", div("trunc", "i64", least, minus_one)
    yield "div_trunc(i32 [MIN], [-1])", div("trunc", "i32", [-2**31], minus_one)
    yield "floor_div(i64 [MIN], [-1])", lambda: t("i64", least) // t("i64", minus_one)
    yield "i64 [MIN] % [-1]", lambda: t("i64", least) % t("i64", minus_one)
    yield "fmod(i64 [MIN], [-1])", lambda: torch.fmod(t("i64", least), t("i64", minus_one))

    def at(dtype):
        return lambda: torch.index_select(x, 0, t(dtype, [2, 0]))

    for dtype in ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32"):
        yield f"f32 [10, 20, 30] at {dtype} [2, 0]", at(dtype)
    yield "f32 [10, 20, 30] at bool [1, 0]", lambda: torch.index_select(x, 0, t("bool", [1, 0]))
    yield "f32 [10, 20, 30] at i64 [-1]", lambda: torch.index_select(x, 0, t("i64", [-1]))
    yield "f32 [10, 20, 30] at i64 [3]", lambda: torch.index_select(x, 0, t("i64", [3]))
    yield "f32 [0, ..., 255] at u8 [255]", lambda: torch.index_select(torch.arange(256, dtype=torch.float32), 0, t("u8", [255]))
    yield "gather(f32 [[10, 20], [30, 40]], i32 [[1, 0]])", lambda: torch.gather(t("f32", [[10, 20], [30, 40]]), 0, t("i32", [[1, 0]]))
    yield "embedding(f32 [[10], [20]], i64 [-1])", lambda: torch.nn.functional.embedding(t("i64", [-1]), t("f32", [[10], [20]]))

    yield "f32 [10, 20, 30][u8 [1, 0, 1]]", lambda: x[t("u8", [1, 0, 1])]
    yield "f32 [10, 20, 30][bool [1, 0, 1]]", lambda: x[t("bool", [1, 0, 1])]
    yield "masked_select(f32 [10, 20, 30], u8 [1, 0, 1])", lambda: torch.masked_select(x, t("u8", [1, 0, 1]))
    yield "where(u8 [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", lambda: torch.where(t("u8", [1, 0, 1]), x, torch.zeros(3))
    yield "where(bool [1, 0, 1], f32 [10, 20, 30], [0, 0, 0])", lambda: torch.where(t("bool", [1, 0, 1]), x, torch.zeros(3))
    yield "i64 [1, 2] == [1, 3]", lambda: t("i64", [1, 2]) == t("i64", [1, 3])
    yield "bool [1, 0, 1] + bool [1, 0, 1]", lambda: t("bool", [1, 0, 1]) + t("bool", [1, 0, 1])

    yield "argmax(i64 [1, 5, 5])", lambda: t("i64", [1, 5, 5]).argmax()
    yield "argmax(i64 [2^53, 2^53 + 1])", lambda: t("i64", [2**53, 2**53 + 1]).argmax()
    yield "argmin(i64 [3, MIN, MAX])", lambda: t("i64", [3, MIN, MAX]).argmin()
    yield "argmax(u8 [0, 255])", lambda: t("u8", [0, 255]).argmax()
    yield "max(i64 [MIN, MAX])", lambda: t("i64", [MIN, MAX]).max()
    yield "argmax(f32 [1, NaN, 3])", lambda: t("f32", [1, NAN, 3]).argmax()
    yield "max(f32 [1, NaN, 3])", lambda: t("f32", [1, NAN, 3]).max()

    yield "f32 [2.9, -2.9] to i64", lambda: t("f32", [2.9, -2.9]).to(torch.int64)
    yield "f32 [300, -1] to u8", lambda: t("f32", [300, -1]).to(torch.uint8)
    yield "f32 [300, -300] to i8", lambda: t("f32", [300, -300]).to(torch.int8)
    yield "f32 [NaN, 3e9, -3e9] to i32", lambda: t("f32", [NAN, 3e9, -3e9]).to(torch.int32)
    yield "f32 [-1, inf] to u32", lambda: t("f32", [-1, INF]).to(torch.uint32)
    yield "f32 [NaN, 1e20, -1e20] to i64", lambda: t("f32", [NAN, 1e20, -1e20]).to(torch.int64)
    yield "i64 [300, -1] to u8", lambda: t("i64", [300, -1]).to(torch.uint8)


# The same rows [rows, n] in another place: (name, axis that runs through them, what lays them out). PyTorch has no negative strides: flip copies.
LAYOUTS = [
    ("last axis", 1, lambda x: x),
    ("first axis", 0, lambda x: x.t().contiguous()),
    ("middle axis", 1, lambda x: x.unsqueeze(2).expand(*x.shape, 3).contiguous()),
    ("last axis of a transposed view", 1, lambda x: x.t().contiguous().t()),
    ("first axis of a transposed view", 0, lambda x: x.t()),
    ("every second element", 1, lambda x: x.repeat_interleave(2, 1)[:, ::2]),
    ("backwards in memory", 1, lambda x: x.flip(1).flip(1)),
    ("one row, broadcast", 1, lambda x: x[:1].expand(x.shape)),
]


def softmax_rows():
    """The rows of examples/half_softmax.cpp in its order."""
    def ones(n, dtype, axis, lay):
        return lambda: lay(torch.ones(2, n, dtype=DTYPES[dtype])).sum(axis)

    def softmax(rows, n, logits, dtype, axis, lay):
        def compute():
            row = torch.zeros(n) if logits == "equal logits" else torch.arange(n) % 64 / 8
            y = torch.softmax(lay(row.expand(rows, n).contiguous().to(DTYPES[dtype])), axis)
            return y.sum(axis, dtype=torch.float32)
        return compute

    for dtype in ("f32", "f16", "bf16"):
        for n in (256, 257, 4096):
            for name, axis, lay in LAYOUTS:
                yield f"sum of {n} ones, {dtype}, {name}", ones(n, dtype, axis, lay)
    for dtype in ("f32", "f16", "bf16"):
        for logits in ("equal logits", "ramps"):
            for rows, n in ((4, 2048), (1, 4096)):
                for name, axis, lay in LAYOUTS:
                    yield f"softmax of {rows}x{n} {logits}, {dtype}, {name}", softmax(rows, n, logits, dtype, axis, lay)


def values(y):
    """Decimal for integers and bool, the bits in hexadecimal for floats, as the example programs write them."""
    y = y.contiguous().reshape(-1)
    if not y.dtype.is_floating_point:
        return [str(int(v)) for v in y.tolist()]
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[y.element_size()]
    return [f"{v & (1 << 8 * y.element_size()) - 1:0{2 * y.element_size()}x}" for v in y.view(bits).tolist()]


def said(compute):
    try:
        y = compute()
        return {"outcome": "value", "dtype": NAMES[y.dtype], "shape": list(y.shape), "values": values(y)}
    except Exception as error:
        return {"outcome": "error", "text": str(error).splitlines()[0] if str(error) else type(error).__name__}


def run(compute):
    """A row's outcome, from a process of its own."""
    if compute is None:
        return {"outcome": "absent"}
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, json.dumps(said(compute)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return {"outcome": "killed", "text": signal.Signals(os.WTERMSIG(status)).name}
    return json.loads(text)


def rows():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # nothing of the parent's runs in threads, so that fork is safe
    for generator in (integer_rows, softmax_rows):
        for row, compute in generator():
            yield {"row": row, "device": "pytorch", **run(compute)}


def main():
    if sys.argv[1:] == ["--rows"]:
        for row in rows():
            print(json.dumps(row))
        return 0
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1] if len(sys.argv) == 2 else compare_rows.ROOT / "build/release")
    print(f"PyTorch {torch.__version__}, the rows of {compare_rows.shown(build)}/examples")
    return compare_rows.report("pytorch", compare_rows.of_programs(build), {row["row"]: row for row in rows()})


if __name__ == "__main__":
    sys.exit(main())
