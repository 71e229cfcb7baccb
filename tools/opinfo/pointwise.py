"""Spellings of what works element by element. The bounds are those of CONTRACT.md 2.2 and 2.3; where it names none, the operation's docstring does."""
import math

import torch

from calls import ABSOLUTE, BITS, CLOSE, D16, EXACT, INTEGERS, RELATIVE, SUM, ULP, Call, Meant, Skip, distance, f32, floats_only, only_theirs_infinite, spelling

HALF = 0.5  # correctly rounded
BOOLEAN = Meant("bool has no arithmetic: logical_or, logical_and or a cast (CONTRACT.md 1.2, D6)", error="dtype mismatch", theirs="bool")
NO_BITS_OF_FLOATS = Meant("bitwise operations refuse floats (CONTRACT.md 2.5)", error="dtype mismatch")
ZERO_DIVISOR = Meant("an integer divided by zero is an error on every device (CONTRACT.md 2.1)", error="division by zero")
INTEGER_POWER = Meant("a negative exponent of an integer is an error (CONTRACT.md 2.1)", error="outside the domain|invalid argument")


def has_nan(case, *_):
    return any(t.is_floating_point() and bool(t.isnan().any()) for t in case.call.inputs if isinstance(t, torch.Tensor))


def reflected(x):
    """Below 0 the error is measured by the largest term of the reflection formula, at least 1."""
    return torch.where(x.to(torch.float64) < 0.5, (x.to(torch.float64).abs() + 2) ** 2, 1.0)


def largest(call, y, absolute):
    """The larger of the result and the operands."""
    for t in call.inputs:
        if isinstance(t, torch.Tensor) and t.is_floating_point():
            y = torch.maximum(y.abs(), t.to(torch.float64).abs().nan_to_num(posinf=0.0))
    return y.abs()


NAN_GRADIENT = Meant("of a NaN the gradient is what the formula gives; PyTorch passes dy or 0", where="gradient", when=has_nan)
MIXED = Meant("an integer and a float tensor that could lose digits do not mix (CONTRACT.md 1.2)", error="dtype mismatch",
              when=lambda case: case.dtype in ("f32", "bf16", "f16"))
FLOAT_OF_INTEGERS = [Meant("activations but relu give f32 of integers (CONTRACT.md 1.4)", ours="f32", theirs=t) for t in sorted(INTEGERS)]
MINUS_INFINITY = Meant("silu(−inf) = mish(−inf) = −0, the limit (CONTRACT.md 2.3)", where="values",
                       when=lambda case, *_: bool((case.call.inputs[0] == -math.inf).any()))
SIXTH = Meant("PyTorch's gradient of hardsigmoid multiplies by 1/6 rounded to f32 (3e-8 off in f64); ours divides by 6", where="gradient",
              when=lambda case, ours, theirs, *_: bool((distance(ours, theirs, "f64") <= 4e-8 * theirs.abs()).all()))
ONE_ROUNDING = Meant("the f32 quotient is truncated, then rounded once (CONTRACT.md 2.2); PyTorch rounds it to the half first", where="values",
                     when=lambda case, *_: case.dtype in ("bf16", "f16"))


def unary(names, bound, ours=None, **how):
    for name in names.split():
        @spelling(name, bound, edges=True, **how)
        def translate(x, votive=ours or name.split(".")[-1], inplace=False):
            return Call(votive, x)


def binary(names, bound, ours=None, swapped=False, **how):
    for name in names.split():
        @spelling(name, bound, edges=True, literals=True, **how)
        def translate(a, b, votive=ours or name.split(".")[-1]):
            return Call(votive, b, a) if swapped else Call(votive, a, b)


unary("neg", BITS, meant=[BOOLEAN])
unary("abs", BITS, meant=[BOOLEAN, Meant("sign(NaN) = NaN, so the gradient there is NaN (CONTRACT.md 2.2)", where="gradient", when=has_nan)])
unary("sign sgn", EXACT, ours="sign", meant=[BOOLEAN, Meant("sign(NaN) = NaN (CONTRACT.md 2.2, row 25)", when=has_nan, where="values")])
unary("floor ceil trunc", EXACT, meant=[BOOLEAN])
unary("square", ULP(HALF), meant=[BOOLEAN])
unary("frac", ULP(HALF))
unary("positive", BITS, meant=[BOOLEAN])
unary("nn.functional.relu", EXACT, meant=[BOOLEAN])
unary("sqrt", ULP(HALF))
unary("rsqrt", ULP(1.5))
unary("reciprocal", ULP(HALF), ours="recip")
unary("exp exp2 expm1 log1p sin cos", ULP(1.5))
unary("log log2 log10", ULP(1))
unary("tan sinh cosh tanh asin acos atan erf", ULP(2))
unary("asinh acosh atanh erfc", ULP(3))
unary("erfinv", ULP(4))
unary("digamma", CLOSE(8, f64=1e-11, scale=lambda call, y, absolute: torch.maximum(y.abs(), reflected(call.inputs[0]))), gradient=None)  # PyTorch's own f64 trigamma is good to 10⁻¹⁰
unary("lgamma", CLOSE(4, scale=lambda call, y, absolute: torch.maximum(y.abs(), reflected(call.inputs[0]))), gradient=1e-11)
unary("sigmoid", ULP(5))
unary("deg2rad rad2deg", ULP(0.51))
unary("isnan isinf isfinite signbit logical_not", EXACT)
unary("isposinf isneginf", EXACT, meant=[BOOLEAN])
unary("bitwise_not", EXACT, meant=[NO_BITS_OF_FLOATS])
unary("sinc", ULP(4, slack=lambda call: torch.tensor(1e-15)), meant=[NAN_GRADIENT])  # sin(π·n) is not 0 in PyTorch
unary("nn.functional.silu", ULP(6), variant="", meant=[MINUS_INFINITY, D16])
unary("nn.functional.mish", ULP(6), meant=[MINUS_INFINITY, D16])
unary("nn.functional.softsign", ULP(1.5), meant=[D16, Meant("softsign(±inf) = ±1, the limit; PyTorch divides inf by inf", where="values",
                                                           when=lambda case, *_: bool(case.call.inputs[0].isinf().any()))])
unary("nn.functional.tanhshrink", ULP(4, slack=lambda call: 1e-15 * call.inputs[0].to(torch.float64).abs().nan_to_num(posinf=0.0)))  # x − tanh x cancels in PyTorch
unary("nn.functional.selu", ULP(4), meant=[NAN_GRADIENT])
unary("nn.functional.hardsigmoid", ABSOLUTE(2), meant=[SIXTH])  # class E: x + 3 is rounded
unary("nn.functional.hardswish", CLOSE(4, scale=lambda call, y, absolute: call.inputs[0].to(torch.float64).abs()))
unary("nn.functional.relu6", EXACT, meant=FLOAT_OF_INTEGERS + [NAN_GRADIENT])
unary("nn.functional.logsigmoid", ULP(5), ours="log_sigmoid")
unary("special.ndtr special.log_ndtr special.ndtri special.erfcx special.entr special.i0e special.i1 special.i1e", ULP(6))
unary("i0", ULP(6))

binary("mul", ULP(HALF), meant=[BOOLEAN])
binary("true_divide", ULP(HALF), ours="div", meant=[BOOLEAN])
binary("eq ne lt le gt ge logical_and logical_or logical_xor", EXACT)
TIES = Meant("of equal operands the first gets the gradient (D16); PyTorch gives each the half", where="gradient")
binary("maximum minimum fmax fmin", EXACT, meant=[BOOLEAN, TIES])
binary("copysign", EXACT, meant=[BOOLEAN, D16])
binary("fmod", EXACT, truth=False, meant=[ZERO_DIVISOR])
binary("remainder", EXACT, truth=False, meant=[ZERO_DIVISOR])
binary("floor_divide", EXACT, ours="floor_div", truth=False, meant=[ZERO_DIVISOR, ONE_ROUNDING])
binary("pow", ULP(2), meant=[INTEGER_POWER, BOOLEAN, D16])
binary("atan2", ULP(2), meant=[BOOLEAN, D16])
binary("hypot", ULP(1), meant=[BOOLEAN, D16, Meant("the gradient is a / hypot(a, b) without early overflow", where="gradient",
                                             when=only_theirs_infinite)])
binary("logaddexp", CLOSE(5, scale=largest), meant=[BOOLEAN, D16])
binary("xlogy", ULP(3), meant=[BOOLEAN, D16])
binary("special.xlog1py", ULP(3), meant=[BOOLEAN, D16])
binary("heaviside gcd lcm nextafter", EXACT)
binary("bitwise_and bitwise_or bitwise_xor", EXACT, meant=[NO_BITS_OF_FLOATS])
binary("bitwise_left_shift", EXACT, ours="shift_left")
binary("bitwise_right_shift", EXACT, ours="shift_right")
binary("__radd__", ULP(HALF), ours="add", swapped=True, meant=[BOOLEAN])
binary("__rmul__", ULP(HALF), ours="mul", swapped=True, meant=[BOOLEAN])
binary("__rdiv__", ULP(HALF), ours="div", swapped=True, meant=[BOOLEAN])
binary("__rsub__", ULP(HALF), ours="sub", swapped=True, meant=[BOOLEAN])
binary("__rmod__", EXACT, ours="remainder", swapped=True, truth=False, meant=[ZERO_DIVISOR])
binary("__rpow__", ULP(2), ours="pow", swapped=True, meant=[INTEGER_POWER, BOOLEAN, D16])
binary("__rand__", EXACT, ours="bitwise_and", swapped=True)
binary("__ror__", EXACT, ours="bitwise_or", swapped=True)
binary("__rxor__", EXACT, ours="bitwise_xor", swapped=True)


@spelling("round", EXACT, variant="", edges=True)
def _(x):
    return Call("round", x)


@spelling("round", RELATIVE(3, steps=True))
def _(x, decimals=0):
    return Call("round", x, decimals=decimals)


@spelling("add", ULP(HALF), edges=True, literals=True, meant=[BOOLEAN])
def _(a, b, alpha=1):
    if alpha != 1:
        raise Skip("alpha: one writes a + alpha * b")
    return Call("add", a, b)


@spelling("sub", ULP(HALF), edges=True, literals=True, meant=[BOOLEAN])
def _(a, b, alpha=1):
    if alpha != 1:
        raise Skip("alpha: one writes a - alpha * b")
    return Call("sub", a, b)


@spelling("rsub", ULP(HALF), literals=True, meant=[BOOLEAN])
def _(a, b, alpha=1):
    if alpha != 1:
        raise Skip("alpha: one writes b - alpha * a")
    return Call("sub", b, a)


@spelling("div", ULP(HALF), variant="no_rounding_mode", edges=True, literals=True, meant=[BOOLEAN])
def _(a, b):
    return Call("div", a, b)


@spelling("div", EXACT, variant="trunc_rounding", literals=True, truth=False, meant=[ZERO_DIVISOR, ONE_ROUNDING])
def _(a, b, rounding_mode):
    return Call("div_trunc", a, b)


@spelling("div", EXACT, variant="floor_rounding", literals=True, truth=False, meant=[ZERO_DIVISOR, ONE_ROUNDING])
def _(a, b, rounding_mode):
    return Call("floor_div", a, b)


@spelling("max", EXACT, variant="binary", literals=True, meant=[BOOLEAN, TIES])
def _(a, b):
    return Call("maximum", a, b)


@spelling("min", EXACT, variant="binary", literals=True, meant=[BOOLEAN, TIES])
def _(a, b):
    return Call("minimum", a, b)


def gelu_tanh_bound(call):
    """6 + 2·|z| (CONTRACT.md 2.3)."""
    if call.name != "gelu_tanh":
        return 6
    x = call.inputs[0].to(torch.float64)
    return (6 + 2 * (2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)).abs()).nan_to_num(posinf=1e30)


@spelling("nn.functional.gelu", ULP(gelu_tanh_bound))
def _(x, approximate="none"):
    return Call("gelu_tanh" if approximate == "tanh" else "gelu", x)


@spelling("where", BITS)
def _(a, condition, b):
    return Call("where", condition, a, b)


@spelling("clamp", EXACT, literals=True, meant=[MIXED, BOOLEAN])
def _(x, min=None, max=None):
    return Call("clamp", x, min, max)


@spelling("clamp_min", EXACT, literals=True, meant=[BOOLEAN, TIES])
def _(x, low):
    return Call("maximum", x, low)


@spelling("clamp_max", EXACT, literals=True, meant=[BOOLEAN, TIES])
def _(x, high):
    return Call("minimum", x, high)


@spelling("lerp", CLOSE(3, scale=largest), literals=True)
def _(a, b, weight):
    return Call("lerp", a, b, weight)


@spelling("addcmul", SUM(2), meant=floats_only("addcmul and addcdiv are"))
def _(x, a, b, value=1):
    return Call("addcmul", x, a, b, value=value)


@spelling("addcdiv", SUM(3), meant=[D16])
def _(x, a, b, value=1):
    return Call("addcdiv", x, a, b, value=value)


@spelling("nan_to_num", EXACT, edges=True)
def _(x, nan=None, posinf=None, neginf=None):
    return Call("nan_to_num", x, nan=nan, posinf=posinf, neginf=neginf)


@spelling("isclose", EXACT)
def _(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return Call("isclose", a, b, relative=rtol, absolute=atol, equal_nan=equal_nan)


@spelling("allclose", EXACT)
def _(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return Call("allclose", a, b, relative=rtol, absolute=atol, equal_nan=equal_nan)


@spelling("float_power", ULP(2), numbers=True)
def _(a, b):
    return Call("pow", a, b, to=torch.float64)


@spelling("ldexp", RELATIVE(3, steps=True), meant=[Meant("an integer and a float tensor that could lose digits do not mix (CONTRACT.md 1.2)", error="dtype mismatch"),
    Meant("exp2 of an integer is f32 (CONTRACT.md 1.4)", ours="f32")])
def _(a, b):
    return Call("ldexp", a, b)


@spelling("logit", ABSOLUTE(8, steps=True), meant=[BOOLEAN])
def _(x, eps=None):
    if eps is not None:
        raise Skip("logit with eps: one writes logit(clamp(x, eps, 1 − eps))")
    return Call("logit", x)


@spelling("nn.functional.leaky_relu", ULP(HALF))
def _(x, negative_slope=0.01, inplace=False):
    slope = f32(negative_slope)
    return Call("leaky_relu", x, slope=slope, expect=lambda: torch.nn.functional.leaky_relu(x, slope))


@spelling("nn.functional.elu", ULP(4))
def _(x, alpha=1.0, inplace=False):
    return Call("elu", x, alpha=alpha)


@spelling("nn.functional.celu", ULP(6))
def _(x, alpha=1.0, inplace=False):
    return Call("celu", x, alpha=alpha)


@spelling("nn.functional.softplus", ULP(5))
def _(x, beta=1.0, threshold=20.0):
    if beta != 1 or threshold < 20:
        raise Skip("softplus with beta: one writes softplus(beta * x) / beta")
    return Call("softplus", x, expect=lambda: torch.nn.functional.softplus(x, threshold=1000))


@spelling("nn.functional.hardtanh", EXACT, literals=True, meant=FLOAT_OF_INTEGERS)
def _(x, min_val=-1.0, max_val=1.0, inplace=False):
    return Call("hardtanh", x, low=min_val, high=max_val)


@spelling("nn.functional.softshrink", ULP(HALF), literals=True)
def _(x, lambd=0.5):
    return Call("softshrink", x, lambda_=lambd)


@spelling("nn.functional.hardshrink", EXACT, literals=True, meant=[Meant("a negative limit is an error", error="invalid argument")])
def _(x, lambd=0.5):
    return Call("hardshrink", x, lambda_=lambd)


@spelling("nn.functional.threshold", EXACT, literals=True, meant=FLOAT_OF_INTEGERS)
def _(x, threshold, value, inplace=False):
    return Call("threshold", x, threshold=threshold, value=value)


@spelling("nn.functional.prelu", ULP(HALF))
def _(x, weight):
    return Call("prelu", x, weight)


@spelling("nn.functional.glu", RELATIVE(3, steps=True))  # sigmoid, then the product
def _(x, dim=-1):
    return Call("glu", x, axis=dim)


@spelling("nn.functional.rrelu", ULP(HALF))
def _(x, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    if training:
        raise Skip("rrelu with random slopes")
    slope = f32((lower + upper) / 2)
    return Call("leaky_relu", x, slope=slope, expect=lambda: torch.nn.functional.leaky_relu(x, slope))


@spelling("to", BITS)
def _(x, *arguments, dtype=None, **kwargs):
    given = [a for a in arguments if isinstance(a, torch.dtype)]
    if not given and dtype is None:
        raise Skip("to without a dtype")
    return Call("cast", x, dtype=given[0] if given else dtype)


@spelling("polar complex", BITS)
def _(*arguments, **more):
    raise Skip("a complex result")


def cast(name, dtype):
    @spelling(name, BITS, gradient=1e-12, meant=[
        Meant("a float is truncated and saturated to an integer, NaN gives 0 (CONTRACT.md 6, rows 29, 30)", where="values")])
    def _(x, memory_format=None):
        return Call("cast", x, dtype=dtype)


for name, dtype in {"bfloat16": torch.bfloat16, "double": torch.float64, "float": torch.float32, "half": torch.float16, "bool": torch.bool,
                    "byte": torch.uint8, "char": torch.int8, "int": torch.int32, "long": torch.int64, "short": torch.int16}.items():
    cast(name, dtype)
