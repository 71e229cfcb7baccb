"""Spellings of many elements to one, and of scans: bounds of CONTRACT.md 3.3, in which d(n) of the samples' lengths is at most 12."""
import math

import torch

from calls import ABSOLUTE, BITS, CLOSE, EXACT, RELATIVE, SUM, ULP, Call, Meant, Skip, spelling
from movement import ON_A_SCALAR, axes_of

UNSIGNED = Meant("sums and products of unsigned integers are u64 (CONTRACT.md 3.1, D7)", ours="u64", theirs="i64")
TRUTH = Meant("any and all give bool (CONTRACT.md 3.1); PyTorch keeps u8", ours="bool", theirs="u8")
COMMON = [ON_A_SCALAR, UNSIGNED]


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
            if dtype is not None and dtype != x.dtype:
                raise Skip("dtype=: one writes x.to(dtype) first")
            return Call(votive, x, axes=axes(dim), keep=keepdim)


reduction("sum nansum", SUM(12))
reduction("mean nanmean", SUM(13))
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


@spelling("linalg.vector_norm", RELATIVE(24), meant=COMMON)
def _(x, ord=2, dim=None, keepdim=False, dtype=None):
    if dtype is not None and dtype != x.dtype:
        raise Skip("dtype=: one writes x.to(dtype) first")
    return vector_norm(x, ord, dim, keepdim)


@spelling("norm", RELATIVE(24), meant=COMMON)
def _(x, p="fro", dim=None, keepdim=False, dtype=None):
    if p == "nuc":
        raise Skip("the nuclear norm is linear algebra")
    return vector_norm(x, 2 if p == "fro" else p, dim, keepdim)


@spelling("dist", RELATIVE(24))
def _(a, b, p=2):
    return Call("dist", a, b, p=float(p))


@spelling("cdist", RELATIVE(24, f64=1e-11))
def _(a, b, p=2.0, compute_mode=None):
    return Call("cdist", a, b, p=float(p), expect=lambda: torch.cdist(a, b, p, "donot_use_mm_for_euclid_dist"))


@spelling("nn.functional.pdist", RELATIVE(24))
def _(x, p=2.0):
    return Call("pdist", x, p=float(p))


def scan(name, bound, ours=None):
    @spelling(name, bound, meant=COMMON)
    def _(x, dim, dtype=None):
        if dtype is not None and dtype != x.dtype:
            raise Skip("dtype=: one writes x.to(dtype) first")
        return Call(ours or name, x, axis=dim)


scan("cumsum", SUM(12))
scan("cumprod", RELATIVE(64))
scan("logcumsumexp", ABSOLUTE(64))
scan("cummax", EXACT)
scan("cummin", EXACT)


@spelling("diff", ULP(0.5, f64=1e-14))
def _(x, n=1, dim=-1, prepend=None, append=None):
    if prepend is not None or append is not None:
        raise Skip("diff with more at its ends: one writes concat")
    return Call("diff", x, n=n, axis=dim)


def trapezoids(name, ours):
    @spelling(name, SUM(16))
    def _(y, x=None, dim=-1, dx=1.0):
        return Call(ours, y, x, axis=dim, step=dx)


trapezoids("trapezoid", "trapezoid")
trapezoids("trapz", "trapezoid")
trapezoids("cumulative_trapezoid", "cumulative_trapezoid")


@spelling("cov", CLOSE(48))
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
