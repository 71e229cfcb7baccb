"""Spellings of sums of products: matmul and what is made of it, convolution, pooling, resampling (CONTRACT.md 4.3, 4.4, 4.6)."""
import torch

from calls import BITS, CLOSE, EXACT, RELATIVE, SUM, Call, Meant, Skip, floats_only, spelling

PRODUCT = SUM(70)  # γ_k of the samples' k
WIDER = [Meant("products of 8-bit integers are i32, of wider ones i64 or u64 (CONTRACT.md 4.6)", theirs=t, ours=o)
         for t, o in (("u8", "i32"), ("i8", "i32"), ("u8", "i64"), ("i8", "i64"), ("i16", "i64"), ("i32", "i64"))]


def product(names, ours="matmul", bound=PRODUCT, meant=(), **how):
    for name in names.split():
        @spelling(name, bound, meant=WIDER + list(meant), **how)
        def _(a, b, votive=ours or name):
            return Call(votive, a, b)


product("matmul mm bmm __rmatmul__")
product("mv", ours=None)
product("dot vdot", ours="dot")
product("outer kron", ours=None, meant=[Meant("bool has no arithmetic (CONTRACT.md 1.2, D6)", error="dtype mismatch", theirs="bool")])


@spelling("inner", PRODUCT, meant=WIDER)
def _(a, b):
    return Call("mul" if a.dim() == 0 or b.dim() == 0 else "inner", a, b)


@spelling("__rmatmul__", PRODUCT, meant=WIDER)
def _(a, b):
    return Call("matmul", b, a)


BOOLEAN = Meant("bool has no arithmetic (CONTRACT.md 1.2, D6)", error="dtype mismatch", theirs="bool")
FLOATS = Meant("convolutions and layers are of floats; matmul multiplies integers (CONTRACT.md 4.6)", error="dtype mismatch", theirs="i64")


def added(name, ours):
    @spelling(name, SUM(80, steps=True), meant=WIDER + [BOOLEAN])
    def _(c, a, b, beta=1, alpha=1):
        if not c.is_floating_point() and (isinstance(alpha, float) or isinstance(beta, float)):
            raise Skip("a float factor of integers: one writes a cast")
        return Call(ours, c, a, b, beta=beta, alpha=alpha)


for name in ("addmm", "addmv", "addbmm", "baddbmm", "addr"):
    added(name, name)


@spelling("nn.functional.linear", PRODUCT, meant=[Meant("linear is a layer of floats; matmul multiplies integers", error="dtype mismatch")])
def _(x, w, bias=None):
    if w.dim() == 1:
        raise Skip("a weight without rows: one writes dot")
    return Call("linear", x, w, bias)


@spelling("nn.functional.bilinear", PRODUCT, meant=floats_only("a layer is"))
def _(a, b, w, bias=None):
    return Call("bilinear", a, b, w, bias)


@spelling("einsum", SUM(3, steps=True), meant=WIDER + [Meant("sums of unsigned integers are u64 (CONTRACT.md 3.1, D7)", ours="u64")])
def _(tensors, formula):
    return Call("einsum", *tensors, formula=formula)


@spelling("tensordot", PRODUCT, meant=WIDER + [Meant("tensordot does not broadcast the axes that it sums", error="shape mismatch")])
def _(a, b, dims=2):
    first, second = dims if isinstance(dims, (list, tuple)) else (list(range(a.dim() - dims, a.dim())), list(range(dims)))
    return Call("tensordot", a, b, a=list(first), b=list(second))


@spelling("linalg.vecdot", PRODUCT, meant=WIDER)
def _(a, b, dim=-1):
    return Call("vecdot", a, b, axis=dim)


@spelling("linalg.multi_dot", SUM(8, steps=True), meant=WIDER)
def _(tensors):
    return Call("multi_dot", *tensors)


@spelling("linalg.cross cross", SUM(4, steps=True))
def _(a, b, dim=-1):
    return Call("cross", a, b, axis=dim)


def largest_input(call, truth, absolute):
    return float(call.inputs[0].abs().max())


def per_axis(value, n):
    return [value] * n if isinstance(value, int) else list(value) * (n if len(value) == 1 else 1)


def batchless(x, n, *which):
    """An input without a batch gets one for the call."""
    return {"batchless": list(which or [0])} if x.dim() == n + 1 else {}


def convolution(n):
    @spelling(f"nn.functional.conv{n}d", PRODUCT, meant=[FLOATS])
    def _(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
        where = {"mode": padding} if isinstance(padding, str) else {"padding": per_axis(padding, n)}
        return Call(f"conv{n}d", x, w, bias, stride=per_axis(stride, n), dilation=per_axis(dilation, n), groups=groups, **where, **batchless(x, n))

    @spelling(f"nn.functional.conv_transpose{n}d", PRODUCT, meant=[FLOATS])
    def _(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return Call(f"conv_transpose{n}d", x, w, bias, stride=per_axis(stride, n), padding=per_axis(padding, n), dilation=per_axis(dilation, n),
                    output_padding=per_axis(output_padding, n), groups=groups, **batchless(x, n))


def pooling(n):
    @spelling(f"nn.functional.max_pool{n}d", EXACT)
    def _(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        return Call(f"max_pool{n}d", x, kernel=per_axis(kernel_size, n), stride=per_axis(stride or kernel_size, n), padding=per_axis(padding, n),
                    dilation=per_axis(dilation, n), ceil=ceil_mode, indices=return_indices, **batchless(x, n))

    @spelling(f"nn.functional.avg_pool{n}d", SUM(12), meant=[Meant("an average of integers is f32 (CONTRACT.md 1.4)", ours="f32", theirs="i64")])
    def _(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        return Call(f"avg_pool{n}d", x, kernel=per_axis(kernel_size, n), stride=per_axis(stride or kernel_size, n), padding=per_axis(padding, n),
                    ceil=ceil_mode, count_padding=count_include_pad, divisor=divisor_override, **batchless(x, n))

    @spelling(f"nn.functional.adaptive_avg_pool{n}d", SUM(12))
    def _(x, size):
        return adaptive(x, size, "adaptive_avg_pool", False)

    @spelling(f"nn.functional.adaptive_max_pool{n}d", EXACT)
    def _(x, size, return_indices=False):
        return adaptive(x, size, "adaptive_max_pool", return_indices)

    def adaptive(x, size, name, indices):
        sizes = [size] * n if isinstance(size, int) or size is None else list(size)
        return Call(f"{name}{n}d", x, size=[x.shape[i - n] if s is None else s for i, s in enumerate(sizes)], indices=indices, **batchless(x, n))

    @spelling(f"nn.functional.max_unpool{n}d", BITS, meant=[
        Meant("of several values for one place the last wins, and it alone gets the gradient (CONTRACT.md 5.3)", where="gradient")])
    def _(x, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel, step, pad = per_axis(kernel_size, n), per_axis(stride or kernel_size, n), per_axis(padding, n)
        size = list(output_size)[-n:] if output_size else [(s - 1) * st - 2 * p + k for s, k, st, p in zip(x.shape[-n:], kernel, step, pad)]
        return Call(f"max_unpool{n}d", x, indices, size=size, **batchless(x, n, 0, 1))


for n in (1, 2, 3):
    convolution(n)
    pooling(n)


def resampled(x, size, scale_factor, mode, align_corners=None, recompute_scale_factor=None, antialias=False):
    n = x.dim() - 2
    if size is not None:
        sizes = per_axis(size, n)
        return Call("interpolate", x, size=sizes, mode=mode, align_corners=bool(align_corners), antialias=antialias)
    factors = [scale_factor] * n if isinstance(scale_factor, float) else list(scale_factor)
    if not recompute_scale_factor and mode != "area":
        return Call("interpolate", x, scale=factors, mode=mode, align_corners=bool(align_corners), antialias=antialias)
    sizes = [int(s * f) for s, f in zip(x.shape[2:], factors)]
    return Call("interpolate", x, size=sizes, mode=mode, align_corners=bool(align_corners), antialias=antialias)


def interpolation(variant, bound):
    @spelling("nn.functional.interpolate", bound, variant=variant, numbers=True, meant=floats_only("interpolation is"))
    def _(x, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
        return resampled(x, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)


interpolation("nearest", BITS)
interpolation("nearest-exact", BITS)
interpolation("linear", SUM(8))
interpolation("bilinear", SUM(16))
interpolation("trilinear", SUM(24))
interpolation("bicubic", CLOSE(24, scale=largest_input))
interpolation("area", SUM(12))


@spelling("nn.functional.upsample_nearest", BITS, numbers=True)
def _(x, size=None, scale_factor=None):
    return resampled(x, size, scale_factor, "nearest")


@spelling("nn.functional.upsample_bilinear", SUM(16), numbers=True, meant=floats_only("interpolation is"))
def _(x, size=None, scale_factor=None):
    return resampled(x, size, scale_factor, "bilinear", True)


@spelling("_upsample_bilinear2d_aa", SUM(32), numbers=True, meant=floats_only("interpolation is"))
def _(x, output_size=None, align_corners=False, scale_factors=None, scales_h=None, scales_w=None):
    if output_size is None:
        return Call("interpolate", x, scale=list(scale_factors), mode="bilinear", align_corners=align_corners, antialias=True)
    if scales_h is not None:
        raise Skip("a size and scales at once")
    return Call("interpolate", x, size=list(output_size), mode="bilinear", align_corners=align_corners, antialias=True)


@spelling("nn.functional.grid_sample", CLOSE(256, scale=largest_input), meant=[Meant("cubic sampling is for images", error="invalid argument")])
def _(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    return Call("grid_sample", x, grid, mode=mode, outside=padding_mode, align_corners=bool(align_corners))


@spelling("nn.functional.unfold", BITS)
def _(x, kernel_size, dilation=1, padding=0, stride=1):
    return Call("im2col", x, kernel=per_axis(kernel_size, 2), dilation=per_axis(dilation, 2), padding=per_axis(padding, 2), stride=per_axis(stride, 2))


@spelling("nn.functional.local_response_norm", RELATIVE(32), meant=floats_only("a norm is"))
def _(x, size, alpha=1e-4, beta=0.75, k=1.0):
    return Call("local_response_norm", x, size=size, alpha=alpha, beta=beta, k=k)
