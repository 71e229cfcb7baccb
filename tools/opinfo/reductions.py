"""Spellings of many elements to one, and of scans: bounds of CONTRACT.md 3.3, in which d(n) of the samples' lengths is at most 12."""
import math

import torch

from calls import ABSOLUTE, CLOSE, D16, EXACT, RELATIVE, SUM, ULP, Call, Meant, Skip, spelling
from movement import ON_A_SCALAR, axes_of

UNSIGNED = Meant("sums and products of unsigned integers are u64 (CONTRACT.md 3.1, D7)", ours="u64", theirs="i64")
TRUTH = Meant("any and all give bool (CONTRACT.md 3.1); PyTorch keeps u8", ours="bool", theirs="u8")
WIDE = [Meant("sums and products of integers are i64 whatever dtype= they were cast to (CONTRACT.md 3.1)", ours="i64", theirs=t) for t in ("i32", "i16", "i8", "bool")]
WIDE += [Meant(UNSIGNED.reason, ours="u64", theirs="u8")]
COMMON = [ON_A_SCALAR, UNSIGNED, *WIDE]
NAN_SIGN = Meant("sign(NaN) = NaN, so the gradient of |x| there is NaN (CONTRACT.md 2.2)", where="gradient",
                 when=lambda case, *_: bool(case.call.inputs[0].isnan().any()))
NO_GRADIENT = Meant("a count, or a norm of nothing, depends on no element", error="invalid argument", where="gradient")


def axes(dim):
    """None for all: PyTorch's empty list means all too."""
    return None if dim is None or (isinstance(dim, (list, tuple)) and not dim) else axes_of(dim)


def reduction(names, bound, ours=None, **how):
    how["meant"] = COMMON + how.get("meant", [])
    for name in names.split():
        @spelling(name, bound, **how)
        def translate(x, dim=None, keepdim=False, dtype=None, votive=ours or name, **kwargs):
            if kwargs:
                raise Skip(f"argument {', '.join(kwargs)}")
            return Call(votive, x, axes=axes(dim), keep=keepdim, to=dtype)


reduction("sum nansum", SUM(12))
reduction("mean", SUM(13))
reduction("nanmean", SUM(4, steps=True))  # a sum over a count: two roundings

reduction("prod", RELATIVE(64), variant="")
reduction("any all", EXACT, meant=[TRUTH])
reduction("count_nonzero", EXACT)
reduction("logsumexp", ABSOLUTE(64))
TIES = Meant("the gradient of max and min goes to the one element that argmax and argmin name; PyTorch's amax divides it among ties (D16)", where="gradient")
reduction("amax", EXACT, ours="max", meant=[TIES])
reduction("amin", EXACT, ours="min", meant=[TIES])


def arg(name, other):
    @spelling(name, EXACT, meant=COMMON)
    def _(x, dim=None, keepdim=False):
        if dim is None and keepdim:
            raise Skip("argmax over all with keepdim")
        return Call(name, x, axis=dim, keep=keepdim)

    @spelling(other, EXACT, variant="reduction_no_dim", meant=COMMON + [TIES])
    def _(x):
        return Call(other, x)

    @spelling(other, EXACT, variant="reduction_with_dim", meant=COMMON)
    def _(x, dim, keepdim=False):
        return Call(f"{other}_with_index", x, axis=dim, keep=keepdim)


arg("argmax", "max")
arg("argmin", "min")


@spelling("aminmax", EXACT, meant=COMMON + [TIES])
def _(x, dim=None, keepdim=False):
    return Call("aminmax", x, axes=axes(dim), keep=keepdim)


def spread(name, ours, mean=False):
    def translate(x, dim=None, unbiased=None, keepdim=False, correction=1):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        c = correction if unbiased is None else int(unbiased)
        return Call(ours, x, axes=axes(dim), keep=keepdim, correction=1 if c is None else c)
    spelling(name, RELATIVE(48, f64=1e-11), meant=COMMON, gradient=1e-10)(translate)


spread("var", "var")
spread("std", "std")
spread("var_mean", "var_mean")
spread("std_mean", "std_mean")


def vector_norm(x, order, dim, keep, ours="norm"):
    return Call(ours, x, p=float(order), axes=axes(dim), keep=keep)


@spelling("linalg.vector_norm", RELATIVE(24), meant=COMMON + [NO_GRADIENT])
def _(x, ord=2, dim=None, keepdim=False, dtype=None):
    if dtype is not None and dtype != x.dtype:
        raise Skip("a norm with dtype=: one writes x.to(dtype) first")
    return vector_norm(x, ord, dim, keepdim)


@spelling("norm", RELATIVE(24), meant=COMMON + [NO_GRADIENT])
def _(x, p="fro", dim=None, keepdim=False, dtype=None):
    if p == "nuc":
        raise Skip("the nuclear norm is linear algebra")
    return vector_norm(x, 2 if p == "fro" else p, dim, keepdim)


@spelling("linalg.norm", RELATIVE(24), meant=COMMON + [NO_GRADIENT])
def _(x, ord=None, dim=None, keepdim=False, dtype=None):
    axes = 2 if dim is None and x.dim() == 2 and ord is not None or isinstance(dim, (list, tuple)) and len(dim) == 2 else 1
    if axes == 2 and ord not in (None, "fro") or ord == "nuc":
        raise Skip("a matrix norm that is not Frobenius': linear algebra")
    return vector_norm(x, 2 if ord in (None, "fro") else ord, dim, keepdim)


@spelling("linalg.matrix_norm", RELATIVE(24), meant=COMMON)
def _(x, ord="fro", dim=(-2, -1), keepdim=False, dtype=None):
    if ord != "fro":
        raise Skip("a matrix norm that is not Frobenius': linear algebra")
    return vector_norm(x, 2, dim, keepdim)


@spelling("dist", RELATIVE(4, steps=True))
def _(a, b, p=2):
    return Call("dist", a, b, p=float(p))


@spelling("cdist", RELATIVE(24, f64=1e-11))
def _(a, b, p=2.0, compute_mode=None):
    return Call("cdist", a, b, p=float(p), expect=lambda: torch.cdist(a, b, p, "donot_use_mm_for_euclid_dist"))


@spelling("nn.functional.pdist", RELATIVE(24))
def _(x, p=2.0):
    return Call("pdist", x, p=float(p))


def scan(name, bound, ours=None):
    @spelling(name, bound, meant=COMMON, gradient=1e-10)
    def _(x, dim, dtype=None):
        return Call(ours or name, x, axis=dim, to=dtype)


scan("cumsum", SUM(12))
scan("cumprod", RELATIVE(64))
scan("logcumsumexp", ABSOLUTE(64))


def extreme(name):
    @spelling(name, EXACT, meant=COMMON)
    def _(x, dim):
        def expect():  # of equal elements the lowest index; PyTorch names the last
            values = getattr(torch, name)(x, dim).values
            if x.dim() == 0:
                return values, torch.zeros((), dtype=torch.int64)
            same = x.movedim(dim, -1).unsqueeze(-2) == values.movedim(dim, -1).unsqueeze(-1)
            return values, same.to(torch.uint8).argmax(-1).movedim(-1, dim)
        return Call(name, x, axis=dim, expect=expect)


extreme("cummax")
extreme("cummin")


def of_inputs(call, truth, absolute):
    """Differences err by the size of what is subtracted."""
    return max([float(t.abs().max()) for t in call.inputs if isinstance(t, torch.Tensor) and t.numel()] + [0.0])


@spelling("diff", CLOSE(8, scale=of_inputs, steps=True))
def _(x, n=1, dim=-1, prepend=None, append=None):
    if prepend is not None or append is not None:
        raise Skip("diff with more at its ends: one writes concat")
    return Call("diff", x, n=n, axis=dim)


def trapezoids(name, ours):
    @spelling(name, CLOSE(32, scale=lambda call, truth, absolute: of_inputs(call, truth, absolute) ** (1 if call.inputs[1] is None else 2), steps=True), dtypes={"f32", "f64", "bf16", "f16"})
    def _(y, x=None, dim=-1, dx=1.0):
        return Call(ours, y, x, axis=dim, step=dx)


trapezoids("trapezoid", "trapezoid")
trapezoids("trapz", "trapezoid")
trapezoids("cumulative_trapezoid", "cumulative_trapezoid")


@spelling("cov", CLOSE(8, steps=True), dtypes={"f32", "f64", "bf16", "f16"})
def _(x, correction=1, fweights=None, aweights=None):
    if fweights is not None or aweights is not None:
        raise Skip("cov with weights")
    return Call("cov", x, correction=correction)


@spelling("corrcoef", CLOSE(48))
def _(x):
    return Call("corrcoef", x)


@spelling("trace", SUM(12), meant=COMMON)
def _(x):
    return Call("trace", x)


@spelling("renorm", RELATIVE(24))
def _(x, p, dim, maxnorm):
    return Call("renorm", x, p=float(p), axis=dim, limit=maxnorm)


def masked(name, ours, neutral, bound, meant=()):
    """torch.masked: the operation over x where the mask holds and its neutral element elsewhere. Outputs without any element are not compared."""
    @spelling(f"masked.{name}", bound, meant=COMMON + list(meant) + [D16, NAN_SIGN, Meant("the log of integers is f32 (CONTRACT.md 1.4)", ours="f32")] + [Meant("indices are i64", ours="i64") for _ in range("arg" in name)])
    def _(x, *arguments, mask=None, dim=None, keepdim=False, dtype=None, **kwargs):
        order = {}
        if name == "norm":
            order, arguments = {"p": float(arguments[0])}, arguments[1:]
            if order["p"] <= 0:
                raise Skip("a masked norm of order ≤ 0")
        if arguments:
            dim = arguments[0]
        if kwargs or dtype not in (None, x.dtype):
            raise Skip("a masked operation's other arguments")
        along = {"axis": dim} if ours in ("softmax", "log_softmax", "softmin", "argmax", "argmin", "cumsum", "cumprod") else {"axes": axes(dim), "keep": keepdim}
        if ours in ("argmax", "argmin"):
            along["keep"] = keepdim
        if mask is not None:
            if mask.shape != x.shape or not bool((mask.any() if dim is None else mask.any(axes_of(dim), keepdim=True) if axes(dim) else mask.any()).all()):
                raise Skip("a masked operation where nothing is left, or whose mask is broadcast")
        limit = x.dtype.is_floating_point
        value = neutral if limit or neutral in (0, 1) else (torch.iinfo(x.dtype).min if neutral < 0 else torch.iinfo(x.dtype).max) if x.dtype != torch.bool else neutral > 0
        return Call("masked", x, mask, then=ours, value=value, **along, **order)


masked("sum", "sum", 0, SUM(12))
masked("prod", "prod", 1, RELATIVE(64))
masked("amax", "max", -math.inf, EXACT, [TIES])
masked("amin", "min", math.inf, EXACT, [TIES])
masked("argmax", "argmax", -math.inf, EXACT)
masked("argmin", "argmin", math.inf, EXACT)
masked("norm", "norm", 0, RELATIVE(24))
masked("logsumexp", "logsumexp", -math.inf, ABSOLUTE(64))
masked("softmax", "softmax", -math.inf, RELATIVE(64))
masked("log_softmax", "log_softmax", -math.inf, ABSOLUTE(64))
masked("softmin", "softmin", math.inf, RELATIVE(64))
masked("cumsum", "cumsum", 0, SUM(12))
masked("cumprod", "cumprod", 1, RELATIVE(64))
