"""What the comparison is made of: a Call of Votive for one of PyTorch's samples, a Bound that its result must keep, and the Spelling of an
operation, which knows both. The tables of spellings (pointwise.py, movement.py, …) fill SPELLINGS; nothing here knows an operation.
"""
import dataclasses
import typing

import torch

NAMES = {torch.bool: "bool", torch.uint8: "u8", torch.int8: "i8", torch.uint16: "u16", torch.int16: "i16", torch.uint32: "u32", torch.int32: "i32",
         torch.uint64: "u64", torch.int64: "i64", torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
PRECISION = {"f64": (53, -1022, 1023), "f32": (24, -126, 127), "bf16": (8, -126, 127), "f16": (11, -14, 15)}  # digits, exponents
INTEGERS = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"}


class Skip(Exception):
    """This sample says nothing about Votive; the text is the reason that the report counts it under."""


class Call:
    """name(inputs…, attributes) of the runner's table. Inputs are tensors of the sample, numbers, or None for an argument left out.
    `expect` computes PyTorch's side where it is not simply the sample's own call."""

    def __init__(self, name, *inputs, expect=None, **attributes):
        self.name, self.inputs, self.expect = name, list(inputs), expect
        self.attributes = {k: NAMES[v] if isinstance(v, torch.dtype) else v for k, v in attributes.items() if v is not None}


def f32(value):
    """The number as an f32 attribute has it: passed to both sides."""
    return torch.tensor(value, dtype=torch.float32).item()


def exponent(y, lowest):
    """⌊log₂|y|⌋, at least the lowest exponent of the dtype."""
    return torch.where(y == 0, lowest, torch.frexp(y)[1].to(torch.int64) - 1).clamp(min=lowest)


def ulp(y, dtype):
    digits, lowest, _ = PRECISION[dtype]
    return torch.ldexp(torch.ones_like(y), exponent(y, lowest) - digits + 1)


def distance(a, b, dtype):
    """|a − b| in f64; 0 for NaN beside NaN, infinite for NaN beside a number; an infinity is the first number too large for the dtype."""
    top = 2.0 ** PRECISION[dtype][2] * (2.0 if dtype != "f64" else 1.0)
    d = (a.clamp(-top, top) - b.clamp(-top, top)).abs()
    one_nan = a.isnan() != b.isnan()
    return torch.where(one_nan, torch.inf, torch.where(a.isnan() & b.isnan(), 0.0, d))


@dataclasses.dataclass
class Bound:
    """What the contract allows a result of the operation to differ from the true value, which is PyTorch's f64 result for the same inputs.

    exact      the same bits as PyTorch's result in the same dtype (a zero of either sign unless `signed`)
    ulp        k (a number, or made of the call) ulp of the true value in f32; one more rounding (0.5 ulp) for f16 and bf16; class E operations have k = 0.5
    close      k·2⁻²⁴·scale, plus 0.5 ulp; scale is |truth|'s maximum, or what `scale` makes of the call, the truth and `absolute`, the same
               operation's f64 result for the absolute values of all its floats (Σ|x| of a sum, |A||B| of a matmul).
               `steps`: each step is rounded in the dtype itself (a composition), so k counts units of that dtype
    f64        what an f64 result may differ from PyTorch's, relative to |truth| (ulp) or the scale (close)
    """
    kind: str
    k: typing.Any = 0
    f64: float = 1e-12
    scale: typing.Callable | None = None
    steps: bool = False
    signed: bool = False
    slack: typing.Callable | None = None  # by how much PyTorch's f64 result, the truth, may itself be off

    def allowed(self, truth, dtype, call, absolute=None):
        room = self.room(truth, dtype, call, absolute)
        return room if self.slack is None else room + self.slack(call)

    def room(self, truth, dtype, call, absolute):
        if self.kind == "ulp":
            if dtype == "f64":
                return torch.maximum(self.f64 * truth.abs(), 2 * ulp(truth, "f64"))
            narrow = PRECISION[dtype][0] - 24
            k = self.k(call) if callable(self.k) else self.k
            return ulp(truth, dtype) * (k if narrow == 0 else 0.5 + k * 2.0 ** narrow) * (1 + 1e-6)
        finite = truth[truth.isfinite()].abs()
        scale = self.scale(call, truth, absolute) if self.scale else finite.max() if finite.numel() else 0.0
        unit = self.f64 if dtype == "f64" else self.k * 2.0 ** -(PRECISION[dtype][0] if self.steps else 24)
        return unit * torch.as_tensor(scale, dtype=torch.float64).abs() + 0.5 * (1 + 1e-6) * ulp(truth, dtype)


EXACT = Bound("exact")
BITS = Bound("exact", signed=True)


def ULP(k, f64=1e-12, slack=None):
    return Bound("ulp", k, f64=f64, slack=slack)


def CLOSE(k, scale=None, f64=1e-12, steps=False, slack=None):
    return Bound("close", k, scale=scale, f64=f64, steps=steps, slack=slack)


def absolute_values(call, truth, absolute):
    return absolute


def SUM(k, **how):  # noqa: N802
    """Of sums of products: k·2⁻²⁴ times the same sum of absolute values."""
    return CLOSE(k, scale=absolute_values, **how)


def RELATIVE(k, **how):  # noqa: N802
    """k·2⁻²⁴ times each true value."""
    return CLOSE(k, scale=lambda call, truth, absolute: truth.abs(), **how)


def ABSOLUTE(k, **how):  # noqa: N802
    """k·2⁻²⁴ times the larger of 1 and each true value."""
    return CLOSE(k, scale=lambda call, truth, absolute: truth.abs().clamp(min=1.0), **how)


@dataclasses.dataclass
class Meant:
    """A difference that the contract asks for. Every condition given must hold: the error's kind, the pair of dtypes, what `when` sees of the case."""
    reason: str
    error: str | None = None
    ours: str | None = None
    theirs: str | None = None
    when: typing.Callable | None = None
    where: str | None = None  # "values", "shape", "gradient"


def only_theirs_nan(case, ours, theirs, *_):
    """Where the two differ PyTorch has NaN, and Votive has not."""
    there = ~theirs.isnan()
    return bool((distance(ours, theirs, "f64")[there] <= 1e-9 * theirs[there].abs().nan_to_num(posinf=0.0).clamp(min=1.0)).all())


def only_theirs_infinite(case, ours, theirs, *_):
    """Where the two differ PyTorch has an infinity or NaN, and Votive a number."""
    there = theirs.isfinite()
    return not bool(there.all()) and bool((distance(ours, theirs, "f64")[there] <= 1e-9 * theirs[there].abs().clamp(min=1.0)).all())


def floats_only(what):
    """An operation that the contract has for floats alone."""
    return [Meant(f"{what} of floats", error="dtype mismatch", when=lambda case: case.dtype in INTEGERS | {"bool"})]


D16 = Meant("0·inf never makes a NaN in a gradient (D16)", where="gradient", when=only_theirs_nan)


@dataclasses.dataclass
class Spelling:
    translate: typing.Callable
    bound: Bound
    gradient: float | None = 1e-12  # relative to the gradient's largest element; None where PyTorch's or ours has none
    floor: float = 0.0  # the least size that the gradient's error is measured by, where it comes from sums that cancel
    literals: bool = False  # floats among the arguments are operands, which take the tensor's dtype first (CONTRACT.md 1.3); else f32 attributes
    numbers: bool = False  # floats among the arguments are taken as they are
    meant: list = dataclasses.field(default_factory=list)
    dtypes: set | None = None
    edges: bool = False  # also PyTorch's reference inputs, which hold infinities, NaN and large values
    truth: bool = True  # PyTorch's f64 result is the truth; otherwise its result in the same dtype is


SPELLINGS = {}


def spelling(names, bound=EXACT, variant=None, **how):
    """Decorates (input, *args, **kwargs) → Call with the OpInfo names (one, or several by spaces) that it translates."""
    def keep(translate):
        for name in names.split():
            SPELLINGS[name, variant] = Spelling(translate, bound, **how)
        return translate
    return keep


def find(name, variant):
    return SPELLINGS.get((name, variant)) or SPELLINGS.get((name, None))
