"""Spellings of what moves elements, and of tensors made from numbers: always the very same bits."""
import torch

from calls import BITS, INTEGERS, ULP, Call, Meant, Skip, spelling

ON_A_SCALAR = Meant("an axis of a 0-d tensor is an error (CONTRACT.md 8)", error="invalid axis",
                    when=lambda case: any(isinstance(t, torch.Tensor) and t.dim() == 0 for t in case.call.inputs))


OUT_OF_RANGE = Meant("a literal outside the dtype is an error (CONTRACT.md 1.3, D7)", error="literal out of range")


def moves(names, **how):
    how.setdefault("meant", []).append(ON_A_SCALAR)
    return spelling(names, BITS, **how)


def sizes(shape):
    return list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple, torch.Size)) else list(shape)


def axes_of(dim):
    return list(dim) if isinstance(dim, (list, tuple)) else [dim]


@moves("broadcast_to expand expand_copy")
def _(x, *shape):
    full = sizes(shape)
    old = [1] * (len(full) - x.dim()) + list(x.shape)
    return Call("broadcast_to", x, shape=[o if s == -1 else s for s, o in zip(full, old)])


@moves("expand_as")
def _(x, other):
    return Call("broadcast_to", x, shape=list(other.shape), expect=lambda: x.expand_as(other))


@moves("broadcast_tensors")
def _(*tensors):
    return Call("broadcast_tensors", *tensors)


@moves("chunk unsafe_chunk")
def _(x, chunks, dim=0):
    return Call("chunk", x, chunks=chunks, axis=dim)


@moves("split unsafe_split split_with_sizes split_with_sizes_copy")
def _(x, size, dim=0):
    if isinstance(size, (list, tuple)):
        return Call("split", x, sizes=list(size), axis=dim)
    n = x.shape[dim]
    return Call("split", x, sizes=[min(size, n - i) for i in range(0, n, size)] or [0], axis=dim)


def pieces(x, at, dim):
    n = x.shape[dim]
    if isinstance(at, int):
        return [n // at + (i < n % at) for i in range(at)]
    edges = [0] + [min(max(i + n if i < 0 else i, 0), n) for i in at] + [n]
    if any(b < a for a, b in zip(edges, edges[1:])):
        raise Skip("pieces that overlap")
    return [b - a for a, b in zip(edges, edges[1:])]


@moves("tensor_split")
def _(x, at, dim=0):
    return Call("split", x, sizes=pieces(x, at.tolist() if isinstance(at, torch.Tensor) else at, dim), axis=dim)


@moves("hsplit")
def _(x, at):
    axis = 0 if x.dim() == 1 else 1
    return Call("split", x, sizes=pieces(x, at, axis), axis=axis)


@moves("vsplit")
def _(x, at):
    return Call("split", x, sizes=pieces(x, at, 0), axis=0)


@moves("dsplit")
def _(x, at):
    return Call("split", x, sizes=pieces(x, at, 2), axis=2)


LEGACY_EMPTY = Meant("concat takes tensors of one rank; PyTorch lets [0] beside anything", error="shape mismatch|invalid axis")


@moves("cat", meant=[LEGACY_EMPTY])
def _(tensors, dim=0):
    return Call("concat", *tensors, axis=dim)


@moves("stack")
def _(tensors, dim=0):
    return Call("stack", *tensors, axis=dim)


@moves("hstack")
def _(tensors):
    if any(t.dim() == 0 for t in tensors):
        raise Skip("hstack of 0-d tensors: one writes stack")
    return Call("concat", *tensors, axis=0 if tensors[0].dim() == 1 else 1)


@moves("vstack")
def _(tensors):
    if any(t.dim() == 0 for t in tensors):
        raise Skip("vstack of 0-d tensors: one writes stack")
    return Call("stack" if tensors[0].dim() == 1 else "concat", *tensors, axis=0)


@moves("dstack")
def _(tensors):
    if any(t.dim() < 3 for t in tensors):
        raise Skip("dstack of fewer than three axes: one writes unsqueeze and concat")
    return Call("concat", *tensors, axis=2)


@moves("column_stack")
def _(tensors):
    if any(t.dim() < 2 for t in tensors):
        raise Skip("column_stack of vectors: one writes stack along axis 1")
    return Call("concat", *tensors, axis=1)


@moves("unbind unbind_copy")
def _(x, dim=0):
    return Call("unbind", x, axis=dim)


@moves("flip")
def _(x, dims):
    return Call("flip", x, axes=axes_of(dims))


@moves("fliplr")
def _(x):
    return Call("flip", x, axes=[1])


@moves("flipud")
def _(x):
    return Call("flip", x, axes=[0])


@moves("roll")
def _(x, shifts, dims=None):
    if dims is None or dims == ():
        return Call("roll", x, shifts=axes_of(shifts))
    return Call("roll", x, shifts=axes_of(shifts), axes=axes_of(dims))


@moves("rot90")
def _(x, k=1, dims=(0, 1)):
    return Call("rot90", x, k=k, axes=list(dims))


@moves("repeat")
def _(x, *counts):
    return Call("repeat", x, counts=sizes(counts))


@moves("tile")
def _(x, *counts):
    return Call("tile", x, counts=sizes(counts))


@moves("movedim")
def _(x, source, destination):
    return Call("movedim", x, **{"source": axes_of(source), "target": axes_of(destination)})


@moves("permute permute_copy")
def _(x, *dims):
    return Call("permute", x, axes=sizes(dims))


@moves("transpose transpose_copy")
def _(x, a, b):
    return Call("transpose", x, a=a, b=b)


@moves("t t_copy T mT mH H")
def _(x):
    if x.dim() < 2:
        raise Skip("fewer than two axes: nothing to transpose")
    return Call("transpose", x, a=-2, b=-1)


@moves("squeeze squeeze_copy")
def _(x, dim=None):
    axes = [i for i in range(x.dim()) if x.shape[i] == 1] if dim is None else [d for d in axes_of(dim) if x.dim() and x.shape[d] == 1]
    if x.dim() == 0 or not axes:
        raise Skip("squeeze of an axis that is not 1")
    return Call("squeeze", x, axes=axes)


@moves("unsqueeze unsqueeze_copy")
def _(x, dim):
    return Call("unsqueeze", x, axis=dim)


@moves("reshape view view_copy")
def _(x, *shape):
    if len(shape) == 1 and isinstance(shape[0], torch.dtype):
        raise Skip("another dtype's view")
    return Call("reshape", x, shape=sizes(shape))


@moves("reshape_as view_as")
def _(x, other):
    return Call("reshape", x, shape=list(other.shape), expect=lambda: x.reshape(other.shape))


@moves("ravel")
def _(x):
    return Call("flatten", x)


@moves("flatten")
def _(x, start_dim=0, end_dim=-1):
    return Call("flatten", x, first=start_dim, last=end_dim)


@moves("unflatten")
def _(x, dim, shape):
    dim %= x.dim()
    return Call("reshape", x, shape=list(x.shape[:dim]) + list(shape) + list(x.shape[dim + 1:]))


def at_least(rank):
    @moves(f"atleast_{rank}d")
    def _(*tensors):
        if len(tensors) != 1 or not isinstance(tensors[0], torch.Tensor):
            raise Skip("several tensors at once")
        x = tensors[0]
        shape = {1: [1], 2: [1, 1], 3: [1, 1, 1]}[rank] if x.dim() == 0 else list(x.shape)
        while len(shape) < rank:
            shape = [1] + shape if len(shape) == 1 else shape + [1]
        return Call("reshape", x, shape=shape)


for r in (1, 2, 3):
    at_least(r)


@moves("diagonal diagonal_copy")
def _(x, offset=0, dim1=None, dim2=None):
    a, b = (0, 1) if dim1 is None else (dim1, dim2)
    return Call("diagonal", x, offset=offset, a=a, b=b)


@spelling("linalg.diagonal", BITS)
def _(x, offset=0, dim1=-2, dim2=-1):
    return Call("diagonal", x, offset=offset, a=dim1, b=dim2)


@moves("diag")
def _(x, diagonal=0):
    return Call("diag", x, offset=diagonal)


@moves("diag_embed")
def _(x, offset=0, dim1=-2, dim2=-1):
    return Call("diag_embed", x, offset=offset, a=dim1, b=dim2)


@moves("diagflat")
def _(x, offset=0):
    if x.dim() != 1:
        raise Skip("diagflat of another rank than 1: one writes flatten")
    return Call("diag_embed", x, offset=offset)


def triangle(name):
    @moves(name)
    def _(x, diagonal=0):
        return Call(name, x, offset=diagonal)


triangle("tril")
triangle("triu")


@moves("narrow narrow_copy")
def _(x, dim, start, length):
    return Call("narrow", x, axis=dim, start=int(start) % x.shape[dim] if int(start) < 0 else int(start), n=length)


@moves("select")
def _(x, dim, index):
    return Call("select", x, axis=dim, index=index)


@moves("slice")
def _(x, dim=0, start=None, end=None, step=1):
    return Call("slice", x, axis=dim, start=start, stop=end, step=step)


@moves("unfold unfold_copy")
def _(x, dim, size, step):
    return Call("unfold", x, axis=dim, size=size, step=step)


NOTHING_LEFT = Meant("pads that first take every element away leave none to repeat: an error", error="invalid argument",
                     when=lambda case: case.call.attributes["mode"] != "constant")


def of_kind(x, value):
    """A fill as C++ would write it: an integer for integers."""
    return int(value) if not x.is_floating_point() and float(value).is_integer() else value


def padding(variant, mode):
    @moves("nn.functional.pad", variant=variant, meant=[NOTHING_LEFT, OUT_OF_RANGE])
    def _(x, pad, mode_=None, value=None, **kwargs):
        return Call("pad", x, pads=list(pad), mode=mode, value=of_kind(x, value or 0))


padding("constant", "constant")
padding("reflect", "reflect")
padding("replicate", "edge")
padding("replicate_negative", "edge")
padding("circular", "circular")


@moves("constant_pad_nd", meant=[OUT_OF_RANGE])
def _(x, pad, value=0):
    return Call("pad", x, pads=list(pad), mode="constant", value=of_kind(x, value))


@moves("meshgrid")
def _(*tensors, indexing="ij"):
    tensors = tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors
    return Call("meshgrid", *tensors, columns_first=indexing == "xy")


@moves("block_diag")
def _(*tensors):
    return Call("block_diag", *tensors)


@moves("repeat_interleave")
def _(x, repeats, dim=None, output_size=None):
    if isinstance(repeats, torch.Tensor) and repeats.numel() != 1:
        return Call("repeat_interleave", x, repeats, axis=dim)
    return Call("repeat_interleave", x, n=int(repeats), axis=dim)


@moves("contiguous clone resolve_neg resolve_conj conj conj_physical real alias_copy")
def _(x, memory_format=None):
    return Call("contiguous", x)


@moves("nn.functional.channel_shuffle")
def _(x, groups):
    return Call("channel_shuffle", x, groups=groups)


@moves("nn.functional.pixel_shuffle")
def _(x, upscale_factor):
    return Call("pixel_shuffle", x, factor=upscale_factor)


@moves("nn.functional.pixel_unshuffle")
def _(x, downscale_factor):
    return Call("pixel_unshuffle", x, factor=downscale_factor)


@moves("zeros_like")
def _(x, dtype=None, **kwargs):
    return Call("zeros_like", x) if dtype in (None, x.dtype) else Call("zeros", dtype=dtype, shape=list(x.shape))


@moves("ones_like")
def _(x, dtype=None, **kwargs):
    return Call("ones_like", x) if dtype in (None, x.dtype) else Call("ones", dtype=dtype, shape=list(x.shape))


@moves("full_like", numbers=True, meant=[OUT_OF_RANGE])
def _(x, value, dtype=None, **kwargs):
    return Call("full", shape=list(x.shape), value=value, dtype=dtype or x.dtype)


@moves("zeros")
def _(shape, dtype=None, **kwargs):
    return Call("zeros", shape=list(shape), dtype=dtype)


@moves("ones")
def _(shape, dtype=None, **kwargs):
    return Call("ones", shape=list(shape), dtype=dtype)


@moves("full", numbers=True, meant=[OUT_OF_RANGE])
def _(shape, value, dtype=None, **kwargs):
    return Call("full", shape=list(shape), value=value, dtype=dtype)


@moves("new_zeros")
def _(x, shape, dtype=None, **kwargs):
    return Call("zeros", shape=list(shape), dtype=dtype or x.dtype)


@moves("new_ones")
def _(x, shape, dtype=None, **kwargs):
    return Call("ones", shape=list(shape), dtype=dtype or x.dtype)


@moves("new_full", numbers=True, meant=[OUT_OF_RANGE])
def _(x, shape, value, dtype=None, **kwargs):
    return Call("full", shape=list(shape), value=value, dtype=dtype or x.dtype)


@moves("eye")
def _(n, m=None, dtype=None, **kwargs):
    if m is not None and m != n:
        raise Skip("eye that is not square: one writes a slice")
    return Call("eye", n=n, columns=m, dtype=dtype)


@spelling("arange", ULP(0.5), numbers=True, meant=[
    Meant("a bool is not a number (CONTRACT.md 1.3)", error="dtype mismatch"), OUT_OF_RANGE,
    Meant("value i is start + i·step, then an integer (CONTRACT.md 8); PyTorch makes start and step integers first", where="values",
          when=lambda case, *_: not case.theirs[0].is_floating_point())])
def _(start, stop=None, step=1, end=None, dtype=None, **kwargs):
    stop = end if stop is None else stop
    first, last = (0, start) if stop is None else (start, stop)
    return Call("arange", start=first, stop=last, step=step, dtype=dtype)


@spelling("linspace", ULP(0.51), numbers=True, variant="", meant=[Meant("linspace is of floats", error="dtype mismatch", when=lambda case: case.dtype in INTEGERS)])
def _(start, stop, steps, dtype=None, **kwargs):
    return Call("linspace", start=float(start), stop=float(stop), n=steps, dtype=dtype)


@moves("nn.functional.one_hot")
def _(x, num_classes=-1):
    return Call("one_hot", x, classes=int(x.max()) + 1 if num_classes == -1 else num_classes)


@moves("tril_indices triu_indices")
def _(*arguments, **kwargs):
    raise Skip("no indices of triangles: one writes nonzero(tril(…))")


@moves("cartesian_prod")
def _(*tensors):
    return Call("cartesian_prod", *tensors)


@moves("slice_scatter")
def _(x, source, dim=0, start=None, end=None, step=1):
    return Call("slice_scatter", x, source, axis=dim, start=start, stop=end, step=step)


@moves("select_scatter")
def _(x, source, dim, index):
    return Call("select_scatter", x, source, axis=dim, index=index)


@moves("fill", numbers=True, meant=[OUT_OF_RANGE])
def _(x, value):
    if isinstance(value, torch.Tensor):
        raise Skip("fill with a tensor: one writes broadcast_like")
    return Call("full", shape=list(x.shape), value=float(value) if x.is_floating_point() else int(value), dtype=x.dtype)


@moves("scalar_tensor", numbers=True, meant=[OUT_OF_RANGE])
def _(value, dtype=None, **kwargs):
    return Call("full", shape=[], value=value, dtype=dtype)
