"""Spellings of elements chosen by integers or by a mask, of writes into chosen places, and of orders (CONTRACT.md 5)."""
import torch

from calls import BITS, CLOSE, EXACT, INTEGERS, RELATIVE, SUM, Call, Meant, Skip, spelling
from movement import ON_A_SCALAR, OUT_OF_RANGE
from reductions import UNSIGNED

SCALAR = [ON_A_SCALAR]
BOOLEAN = Meant("bool has no arithmetic: logical_or, logical_and or a cast (CONTRACT.md 1.2, D6)", error="dtype mismatch", theirs="bool")
KEEPS = Meant("a mean of integers is a float, and a scatter keeps its target's dtype", error="dtype mismatch",
              when=lambda case: case.call.attributes.get("how") == "mean" and case.dtype in INTEGERS)
FLOAT_IN_INTEGERS = Meant("a float is no integer (CONTRACT.md 1.3)", error="dtype mismatch", when=lambda case: case.dtype in INTEGERS | {"bool"})
LEADING = "a mask has the shape of x's leading axes (CONTRACT.md 5.5); PyTorch broadcasts both"
MASKS = [Meant(LEADING, error="shape mismatch", when=lambda case: case.call.inputs[0].shape != case.call.inputs[1].shape),
         Meant(LEADING, error="shape mismatch", where="gradient"), Meant(OUT_OF_RANGE.reason, error=OUT_OF_RANGE.error),
         Meant(LEADING, where="shape", when=lambda case, *_: case.call.inputs[0].shape != case.call.inputs[1].shape)]
SCATTER = SCALAR + [BOOLEAN, KEEPS, FLOAT_IN_INTEGERS]


@spelling("gather", BITS, meant=SCALAR)
def _(x, dim, index, sparse_grad=False):
    if index.dim() != x.dim() and index.numel() == 0:
        raise Skip("empty indices of another rank")
    return Call("gather", x, index, axis=dim)


@spelling("take_along_dim", BITS, meant=SCALAR)
def _(x, index, dim=None):
    if dim is None:
        raise Skip("take_along_dim without an axis: one writes take")
    if any(a not in (b, 1) or a == 1 != b for i, (a, b) in enumerate(zip(x.shape, index.shape)) if i != dim % x.dim()):
        raise Skip("take_along_dim that broadcasts: one writes broadcast_to")
    return Call("gather", x, index, axis=dim)


@spelling("index_select", BITS, meant=SCALAR)
def _(x, dim, index):
    return Call("index_select", x, index.reshape(-1), axis=dim)


@spelling("take", BITS)
def _(x, index):
    return Call("take", x, index)


@spelling("nn.functional.embedding", BITS)
def _(table, ids, **kwargs):  # OpInfo calls embedding(ids, table) for a sample (table, ids)
    if any(v for v in kwargs.values()):
        raise Skip(f"argument {', '.join(kwargs)}")
    return Call("embedding", table, ids)


@spelling("index_fill", BITS, meant=SCALAR, numbers=True)
def _(x, dim, index, value):
    if isinstance(value, torch.Tensor):
        raise Skip("index_fill with a tensor: one writes index_copy")
    return Call("index_fill", x, index.reshape(-1), axis=dim, value=value)


@spelling("index_copy", BITS, meant=SCALAR)
def _(x, dim, index, source):
    return Call("index_copy", x, index.reshape(-1), source, axis=dim)


@spelling("index_add", SUM(12), meant=SCATTER)
def _(x, dim, index, source, alpha=1):
    if alpha != 1:
        raise Skip("alpha: one writes alpha * source")
    return Call("index_add", x, index.reshape(-1), source, axis=dim)


def index_reduce(variant, ours, bound):
    @spelling("index_reduce", bound, variant=variant, meant=SCATTER)
    def _(x, dim, index, source, reduce, include_self=True):
        if not include_self:
            raise Skip("include_self=False: one writes index_fill first")
        return Call("index_reduce", x, index.reshape(-1), source, axis=dim, how=ours)


index_reduce("mean", "mean", SUM(13))
index_reduce("prod", "mul", RELATIVE(32))
index_reduce("amin", "min", EXACT)
index_reduce("amax", "max", EXACT)

HOW = {None: "assign", "add": "add", "multiply": "mul", "sum": "add", "prod": "mul", "mean": "mean", "amin": "min", "amax": "max"}


def duplicates(x, dim, index):
    """Whether two updates meet in one place: PyTorch does not say which of them stays."""
    if index.numel() == 0 or index.dim() == 0:
        return False
    flat = index.movedim(dim, 0).reshape(index.shape[dim], -1)
    return any(len(set(column.tolist())) < flat.shape[0] for column in flat.T)


@spelling("scatter", SUM(12), meant=SCATTER)
def _(x, dim, index, source, reduce=None):
    if not isinstance(source, torch.Tensor):
        if reduce is not None:
            raise Skip("scatter of a number with a reduction")
        return Call("scatter_value", x, index, axis=dim, value=source)
    if reduce is None and duplicates(x, dim, index):
        raise Skip("scatter with duplicates: PyTorch leaves the winner open, ours is the last (row 49)")
    if list(source.shape) != list(index.shape):
        raise Skip("a source larger than its indices: one writes a slice")
    return Call("scatter", x, index, source, axis=dim, how=HOW[reduce])


@spelling("scatter_add", SUM(12), meant=SCATTER)
def _(x, dim, index, source):
    if list(source.shape) != list(index.shape):
        raise Skip("a source larger than its indices: one writes a slice")
    return Call("scatter", x, index, source, axis=dim, how="add")


def scatter_reduce(variant, bound):
    @spelling("scatter_reduce", bound, variant=variant, meant=SCATTER)
    def _(x, dim, index, source, reduce, include_self=True):
        if not include_self:
            raise Skip("include_self=False: one writes a scatter of the neutral element first")
        if list(source.shape) != list(index.shape):
            raise Skip("a source larger than its indices: one writes a slice")
        return Call("scatter", x, index, source, axis=dim, how=HOW[reduce])


scatter_reduce("sum", SUM(12))
scatter_reduce("prod", RELATIVE(32))
scatter_reduce("mean", SUM(13))
scatter_reduce("amin", EXACT)
scatter_reduce("amax", EXACT)


@spelling("index_put", SUM(12), meant=[BOOLEAN])
def _(x, indices, values, accumulate=False):
    return Call("index_put", x, values, *indices, accumulate=accumulate)


@spelling("put", SUM(12), meant=[BOOLEAN])
def _(x, index, source, accumulate=False):
    return Call("put", x, index, source, accumulate=accumulate)


@spelling("masked_fill", BITS, numbers=True, meant=MASKS)
def _(x, mask, value):
    if isinstance(value, torch.Tensor):
        return Call("where", mask, value.to(x.dtype), x)
    return Call("masked_fill", x, mask, value=value)


@spelling("masked_select", BITS, meant=MASKS)
def _(x, mask):
    return Call("masked_select", x, mask)


@spelling("masked_scatter", BITS, meant=MASKS)
def _(x, mask, source):
    return Call("masked_scatter", x, mask, source)


@spelling("nonzero argwhere", EXACT)
def _(x, as_tuple=False):
    if as_tuple:
        raise Skip("nonzero as a tuple: one writes unbind")
    return Call("nonzero", x)


@spelling("__getitem__", BITS)
def _(x, index):
    index = index if isinstance(index, (list, tuple)) else [index]
    parts, tensors = [], []
    for i in index:
        if i is Ellipsis:
            parts.append("...")
        elif i is None:
            parts.append("new")
        elif isinstance(i, slice):
            parts.append({"start": i.start, "stop": i.stop, "step": 1 if i.step is None else i.step})
        elif isinstance(i, (list, torch.Tensor)):
            parts.append("tensor")
            tensors.append(torch.as_tensor(i))
        elif isinstance(i, bool):
            raise Skip("a bool as an index")
        else:
            parts.append(int(i))
    return Call("at", x, *tensors, parts=parts)


@spelling("sort", EXACT, meant=SCALAR)
def _(x, dim=-1, descending=False, stable=False):
    return Call("sort", x, axis=dim, descending=descending, expect=lambda: torch.sort(x, dim=dim, descending=descending, stable=True))


@spelling("msort", EXACT, meant=SCALAR)
def _(x):
    return Call("msort", x)


@spelling("argsort", EXACT, meant=SCALAR)
def _(x, dim=-1, descending=False, stable=False):
    return Call("argsort", x, axis=dim, descending=descending, expect=lambda: torch.argsort(x, dim=dim, descending=descending, stable=True))


@spelling("topk", EXACT, meant=SCALAR)
def _(x, k, dim=-1, largest=True, sorted=True):
    def expect():  # stable: the lower index first among equals
        values, indices = torch.sort(x, dim=dim, descending=largest, stable=True)
        if x.dim() == 0:
            return values, indices
        return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)
    return Call("topk", x, k=k, axis=dim, largest=largest, expect=expect)


@spelling("kthvalue", EXACT, meant=SCALAR)
def _(x, k, dim=-1, keepdim=False):
    def expect():  # of equal elements the lowest index, as a stable order has them
        values, indices = torch.sort(x, dim=dim, stable=True)
        if x.dim() == 0:
            return values, indices
        pick = [t.narrow(dim, k - 1, 1) for t in (values, indices)]
        return tuple(pick if keepdim else (t.squeeze(dim) for t in pick))
    return Call("kthvalue", x, k=k, axis=dim, keep=keepdim, expect=expect)


@spelling("median", EXACT, meant=SCALAR)
def _(x, dim=None, keepdim=False):
    return Call("median", x, axis=dim, keep=keepdim, expect=lambda: torch.median(x) if dim is None else torch.median(x, dim, keepdim).values)


@spelling("nanmedian", EXACT, meant=SCALAR)
def _(x, dim=None, keepdim=False):
    return Call("nanmedian", x, axis=dim, keep=keepdim, expect=lambda: torch.nanmedian(x) if dim is None else torch.nanmedian(x, dim, keepdim).values)


@spelling("mode", EXACT, meant=SCALAR)
def _(x, dim=-1, keepdim=False):
    return Call("mode", x, axis=dim, keep=keepdim, expect=lambda: torch.mode(x, dim, keepdim).values)


def line_between(call, truth, absolute):
    """a + w·(b − a): each rounding is as large as an element."""
    return call.inputs[0].to(torch.float64).abs().nan_to_num(posinf=0.0).max()


def numbers(q):
    q = q.tolist() if isinstance(q, torch.Tensor) else q
    return {"list": q} if isinstance(q, list) else {"q": q}


@spelling("quantile", CLOSE(4, scale=line_between), meant=SCALAR)
def _(x, q, dim=None, keepdim=False, interpolation="linear"):
    return Call("quantile", x, **numbers(q), axis=dim, keep=keepdim, interpolation=interpolation)


@spelling("nanquantile", CLOSE(4, scale=line_between), meant=SCALAR)
def _(x, q, dim=None, keepdim=False, interpolation="linear"):
    return Call("nanquantile", x, **numbers(q), axis=dim, keep=keepdim, interpolation=interpolation)


@spelling("searchsorted", EXACT)
def _(sequence, values, out_int32=False, right=False, side=None, sorter=None):
    if sorter is not None:
        raise Skip("a sorter: one writes gather first")
    if out_int32:
        raise Skip("an i32 result: one writes .to(i32)")
    if not isinstance(values, torch.Tensor):
        values = torch.tensor(values, dtype=sequence.dtype)
    return Call("searchsorted", sequence, values, right=right or side == "right")


@spelling("bucketize", EXACT)
def _(values, boundaries, out_int32=False, right=False):
    if out_int32:
        raise Skip("an i32 result: one writes .to(i32)")
    return Call("bucketize", values, boundaries, right=right)


@spelling("isin", EXACT)
def _(x, values, assume_unique=False, invert=False):
    return Call("isin", x, values)


@spelling("bincount", CLOSE(12), meant=[Meant("sums of integer weights are integers (CONTRACT.md 3.1)", ours=t) for t in ("i64", "i32", "i16", "i8", "u64", "u8")])
def _(x, weights=None, minlength=0):
    return Call("bincount", x, weights, least=minlength)


@spelling("histc", EXACT, meant=[Meant("counts are i64", ours="i64")])
def _(x, bins=100, min=0, max=0):
    return Call("histc", x, bins=bins, low=float(min), high=float(max))


@spelling("unique", EXACT)
def _(x, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        raise Skip("unique along an axis")

    def expect():
        found = torch.unique(x, sorted=True, return_inverse=True, return_counts=True)
        return tuple(found)
    return Call("unique", x, expect=expect)


@spelling("unique_consecutive", EXACT)
def _(x, return_inverse=False, return_counts=False, dim=None):
    raise Skip("no unique of runs")


@spelling("unravel_index", EXACT)
def _(index, shape):
    raise Skip("one writes div_trunc and remainder")
