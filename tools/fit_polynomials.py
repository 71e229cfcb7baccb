#!/usr/bin/env python3
"""Prints the coefficients of the headers of votive/numerics (needs mpmath and numpy).

Each polynomial is minimax under the weight that turns its error into a relative error of the function (Lawson's iterated least squares, in 240 bits for
f64). Coefficients are rounded one after the other, lowest degree first, and the rest is fitted again, so that later ones make up for the rounding of
earlier ones. The error printed is what is left after that.   tools/fit_polynomials.py [name ...]
"""

import sys

import mpmath as mp
import numpy as np

mp.mp.prec = 240
ONE = mp.mpf(1)


def round_to(x, bits):
    """x rounded to a significand of so many bits."""
    if x == 0:
        return x
    scale = mp.mpf(2) ** (mp.floor(mp.log(abs(x), 2)) - (bits - 1))
    return mp.nint(x / scale) * scale


def hex_float(x, bits):
    return float(x).hex().replace("0000000p", "p") + ("f" if bits <= 24 else "")


def lawson_f64(matrix, right, rounds=80):
    """The free coefficients with the smallest largest error, in f64: enough for f32 coefficients."""
    a = np.array([[float(v) for v in row] for row in matrix])
    b = np.array([float(v) for v in right])
    weights = np.ones(len(b)) / len(b)
    best = (np.inf, None)
    for _ in range(rounds):
        s = np.sqrt(weights)
        solution = np.linalg.lstsq(a * s[:, None], b * s, rcond=None)[0]
        errors = np.abs(a @ solution - b)
        if errors.max() < best[0]:
            best = (errors.max(), solution)
        weights = weights * (errors + 1e-3 * errors.max())
        weights /= weights.sum()
    return [mp.mpf(float(v)) for v in best[1]]


def lawson_big(matrix, right, rounds=12):
    """The same in 240 bits."""
    n = len(matrix[0])
    weights = [ONE / len(right)] * len(right)
    best = (mp.inf, None)
    for _ in range(rounds):
        normal = mp.matrix(n, n)
        rhs = mp.matrix(n, 1)
        for row, value, weight in zip(matrix, right, weights):
            for i in range(n):
                rhs[i] += weight * row[i] * value
                for j in range(i, n):
                    normal[i, j] += weight * row[i] * row[j]
        for i in range(n):
            for j in range(i):
                normal[i, j] = normal[j, i]
        solution = mp.lu_solve(normal, rhs)
        errors = [abs(sum(row[i] * solution[i] for i in range(n)) - value) for row, value in zip(matrix, right)]
        largest = max(errors)
        if largest < best[0]:
            best = (largest, list(solution))
        weights = [w * (e + largest / 1000) for w, e in zip(weights, errors)]
        total = sum(weights)
        weights = [w / total for w in weights]
    return best[1]


def fit(name, f, low, high, degree, bits, weight=lambda x: ONE, fixed=None):
    """sum c_k x^k, k = 0 ... degree, close to f on [low, high]; `fixed` maps powers to coefficients that are given."""
    low, high = mp.mpf(low), mp.mpf(high)
    points = 300 if bits <= 24 else max(100, 8 * degree)
    xs = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / points) for i in range(points + 1)]
    wanted = [f(x) for x in xs]
    weights = [weight(x) for x in xs]
    solve = lawson_f64 if bits <= 24 else lawson_big
    given = dict(fixed or {})
    for k in range(degree + 1):
        if k in given:
            continue
        free = [j for j in range(degree + 1) if j not in given]
        matrix = [[w * x**j for j in free] for x, w in zip(xs, weights)]
        right = [w * (v - sum(c * x**j for j, c in given.items())) for x, w, v in zip(xs, weights, wanted)]
        solution = solve(matrix, right)
        # in f64 the rounding of later coefficients is far below what is left
        for j, c in zip(free if bits > 24 and k >= 5 else free[:1], solution):
            given[j] = round_to(c, bits)
    error = max(abs(w * (sum(c * x**j for j, c in given.items()) - v)) for x, w, v in zip(xs, weights, wanted))
    print(f"{name}: error 2^{float(mp.log(error, 2)):.2f}")
    for k in reversed(range(degree + 1)):
        print(f"  x^{k}: {hex_float(given[k], bits)}")
    sys.stdout.flush()


def split(name, x, sizes):
    """x as a sum of numbers of so many bits each."""
    parts = []
    for bits in sizes:
        parts.append(round_to(x, bits))
        x -= parts[-1]
    print(name, " ".join(hex_float(v, max(sizes)) for v in parts))


def near_zero(g, value):
    """g with its limit at 0, where the formula cancels."""
    return lambda x: g(x) if abs(x) > mp.mpf(10) ** -20 else value


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def normal_tail(u):
    """exp(u^2/2) * Phi(-u)"""
    return mp.exp(u * u / 2) * mp.erfc(u / mp.sqrt(2)) / 2


def fit_tail(name, g, k, low, high, degree, bits=24):
    """g(u) * (u + k) as a polynomial of t = (u - k) / (u + k)."""
    k = mp.mpf(k)
    f = lambda t: g(k * (1 + t) / (1 - t)) * (k * (1 + t) / (1 - t) + k)
    t = lambda u: (mp.mpf(u) - k) / (mp.mpf(u) + k)
    fit(name, f, t(low), t(high), degree, bits, lambda t: 1 / f(t))


def in_square(g, value):
    """A function of x as a function of s = x^2, with its limit at 0."""
    return near_zero(lambda s: g(mp.sqrt(s)), value)


def relative(f, power):
    """The weight of an error of x^power * p(x) relative to f(x)."""
    return lambda x: abs(x**power / f(x)) if x else mp.mpf(0)


HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.002")
THIRD = ONE / 3
QUARTER_PI = (mp.pi / 4 * mp.mpf("1.001")) ** 2
SMALL_S = (3 - 2 * mp.sqrt(2)) ** 2 * mp.mpf("1.01")
LOG2_E = 1 / mp.log(2)
LOG10_E = 1 / mp.log(10)


def log_series(z):
    """(log((1+s)/(1-s)) / s - 2) / z with z = s^2"""
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) / s - 2) / z


def shifted(g, by):
    """g as a function of the distance from `by`."""
    return lambda x: g(by + x)


def stirling_rest(z):
    """(lgamma(x) - Stirling's formula) * x with z = 1/x^2, x > 0"""
    if z < mp.mpf(10) ** -30:
        return ONE / 12
    x = 1 / mp.sqrt(z)
    return (mp.loggamma(x) - ((x - ONE / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2)) * x


def digamma_rest(z):
    """(log x - 1/(2x) - digamma(x)) * x^2 with z = 1/x^2"""
    if z < mp.mpf(10) ** -30:
        return ONE / 12
    x = 1 / mp.sqrt(z)
    return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x


def trigamma_rest(z):
    """(trigamma(x) - 1/x - 1/(2 x^2)) * x^3 with z = 1/x^2"""
    if z < mp.mpf(10) ** -30:
        return ONE / 6
    x = 1 / mp.sqrt(z)
    return (mp.polygamma(1, x) - 1 / x - 1 / (2 * x * x)) * x**3


DIGAMMA_ZERO = mp.findroot(mp.digamma, mp.mpf("1.46163"))  # the one positive zero


def erfinv_shortfall(s):
    """s - erfinv(1 - exp(-s^2))"""
    want = mp.exp(-s * s)
    y = s
    for _ in range(60):  # Newton on the logarithm of erfc, nearly a parabola
        e = mp.erfc(y)
        step = (mp.log(e) + s * s) * e / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += step
        if abs(step) < mp.mpf(10) ** -60:
            break
    return s - y


FITS = {
    "exp_f32": lambda n: fit(n, near_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, ONE / 2), -HALF_LN2, HALF_LN2, 4, 24, lambda r: r * r, {0: ONE / 2}),
    "exp2_f32": lambda n: fit(n, near_zero(lambda r: (2**r - 1) / r, mp.log(2)), -0.501, 0.501, 5, 24, lambda r: abs(r)),
    "log_f32": lambda n: fit(n, near_zero(lambda f: (mp.log(1 + f) - f + f * f / 2) / f**3, THIRD), -THIRD, THIRD * mp.mpf("1.003"), 8, 24,
                             relative(lambda f: mp.log(1 + f), 3)),
    "log2_f32": lambda n: fit(n, near_zero(lambda f: (mp.log(1 + f, 2) / f - LOG2_E) / f, -LOG2_E / 2), -THIRD, THIRD * mp.mpf("1.003"), 9, 24,
                              relative(lambda f: mp.log(1 + f, 2), 2)),
    "log10_f32": lambda n: fit(n, near_zero(lambda f: (mp.log10(1 + f) / f - LOG10_E) / f, -LOG10_E / 2), -THIRD, THIRD * mp.mpf("1.003"), 9, 24,
                               relative(lambda f: mp.log10(1 + f), 2)),
    "sin_f32": lambda n: fit(n, in_square(lambda x: (mp.sin(x) / x - 1) / x**2, -ONE / 6), 0, QUARTER_PI, 2, 24, lambda s: s),
    "cos_f32": lambda n: fit(n, in_square(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4, ONE / 24), 0, QUARTER_PI, 2, 24, lambda s: s * s),
    "sinpi_f32": lambda n: fit(n, in_square(lambda x: mp.sin(mp.pi * x) / x, mp.pi), 0, 0.0626, 4, 24, lambda s: ONE, {0: mp.pi}),
    "cospi_f32": lambda n: fit(n, in_square(lambda x: (mp.cos(mp.pi * x) - 1) / x**2, -mp.pi**2 / 2), 0, 0.0626, 4, 24, lambda s: s),
    "tanh_f32": lambda n: fit(n, in_square(lambda x: (mp.tanh(x) / x - 1) / x**2, -THIRD), 0, mp.mpf("0.63") ** 2, 4, 24, lambda s: s),
    "erf_small_f32": lambda n: fit(n, in_square(lambda x: mp.erf(x) / x - 1, 2 / mp.sqrt(mp.pi) - 1), 0, mp.mpf("0.93") ** 2, 6, 24),
    "erf_large_f32": lambda n: fit(n, lambda t: -mp.log(mp.erfc(t)) / t - 1, "0.9", 4, 6, 24, lambda t: t * mp.erfc(t) / mp.erf(t)),
    "gelu_f32": lambda n: fit_tail(n, normal_tail, "2.25", 0, 15, 10),
    "erfc_f32": lambda n: fit_tail(n, erfcx, "1.5", "0.74", "10.2", 9),
    "exp_f64": lambda n: fit(n, near_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, ONE / 2), -HALF_LN2, HALF_LN2, 10, 53, lambda r: r * r, {0: ONE / 2}),
    "log_f64": lambda n: fit(n, near_zero(log_series, 2 * THIRD), 0, SMALL_S, 6, 53, lambda z: z),
    "sin_f64": lambda n: fit(n, in_square(lambda x: (mp.sin(x) / x - 1) / x**2, -ONE / 6), 0, QUARTER_PI, 6, 53, lambda s: s),
    "cos_f64": lambda n: fit(n, in_square(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4, ONE / 24), 0, QUARTER_PI, 6, 53, lambda s: s * s),
    "erf_small_f64": lambda n: fit(n, in_square(lambda x: mp.erf(x) / x - 1, 2 / mp.sqrt(mp.pi) - 1), 0, "1.01", 13, 53),
    "erfc_f64": lambda n: fit_tail(n, erfcx, 4, 0, "27.4", 22, 53),
    "sinpi_f64": lambda n: fit(n, in_square(lambda x: mp.sin(mp.pi * x) / x, mp.pi), 0, 0.0626, 7, 53, lambda s: ONE, {0: mp.pi}),
    "tan_f32": lambda n: fit(n, in_square(lambda x: (mp.tan(x) / x - 1) / x**2, THIRD), 0, QUARTER_PI, 6, 24, lambda s: s),
    "asin_f32": lambda n: fit(n, in_square(lambda x: (mp.asin(x) / x - 1) / x**2, ONE / 6), 0, ONE / 4, 4, 24, lambda s: s),
    "atan_f32": lambda n: fit(n, in_square(lambda x: (mp.atan(x) / x - 1) / x**2, -THIRD), 0, 1, 8, 24, lambda s: s),
    "sinh_f32": lambda n: fit(n, in_square(lambda x: (mp.sinh(x) / x - 1) / x**2, ONE / 6), 0, 1, 3, 24, lambda s: s),
    "log_pair_f32": lambda n: fit(n, near_zero(lambda z: (log_series(z) - 2 * THIRD) / z, ONE * 2 / 5), 0, SMALL_S, 2, 24, lambda z: z * z),
    "tanhshrink_f32": lambda n: fit(n, in_square(lambda x: (x - mp.tanh(x)) / x**3, THIRD), 0, mp.mpf("1.3") ** 2, 9, 24),
    "erfinv_small_f32": lambda n: fit(n, in_square(lambda x: (mp.erfinv(x) / x - mp.sqrt(mp.pi) / 2) / x**2, mp.pi ** 1.5 / 24), 0, mp.mpf("0.5625"), 9, 24, lambda z: z),
    "erfinv_large_f32": lambda n: fit(n, shifted(erfinv_shortfall, mp.mpf("2.625")), "-1.45", "1.46", 13, 24),
    "lgamma_one_f32": lambda n: fit(n, near_zero(lambda u: mp.loggamma(1 + u) / u, -mp.euler), -0.5, 0.5, 13, 24),
    "lgamma_two_f32": lambda n: fit(n, near_zero(lambda u: mp.loggamma(2 + u) / u, 1 - mp.euler), -0.5, 1, 11, 24),
    "lgamma_rest_f32": lambda n: fit(n, stirling_rest, 0, ONE / 9, 3, 24),
    "digamma_f32": lambda n: fit(n, lambda v: mp.digamma(v + 1.5) / (v + 1.5 - DIGAMMA_ZERO), -0.5, 0.5, 10, 24),
    "digamma_rest_f32": lambda n: fit(n, digamma_rest, 0, ONE / 4, 5, 24),
    "trigamma_f32": lambda n: fit(n, lambda v: mp.polygamma(1, v + 1.5), -0.5, 0.5, 11, 24),
    "trigamma_rest_f32": lambda n: fit(n, trigamma_rest, 0, ONE / 4, 5, 24),
    "tan_f64": lambda n: fit(n, in_square(lambda x: (mp.tan(x) / x - 1) / x**2, THIRD), 0, QUARTER_PI, 14, 53, lambda s: s),
    "asin_f64": lambda n: fit(n, in_square(lambda x: (mp.asin(x) / x - 1) / x**2, ONE / 6), 0, ONE / 4, 12, 53, lambda s: s),
    "atan_f64": lambda n: fit(n, in_square(lambda x: (mp.atan(x) / x - 1) / x**2, -THIRD), 0, 1, 20, 53, lambda s: s),
    "sinh_f64": lambda n: fit(n, in_square(lambda x: (mp.sinh(x) / x - 1) / x**2, ONE / 6), 0, 1, 7, 53, lambda s: s),
    "log_long_f64": lambda n: fit(n, near_zero(lambda z: ((log_series(z) - 2 * THIRD) / z - ONE * 2 / 5) / z, ONE * 2 / 7), 0, SMALL_S, 6, 53, lambda z: z**3),
    "tanhshrink_f64": lambda n: fit(n, in_square(lambda x: (x - mp.tanh(x)) / x**3, THIRD), 0, mp.mpf("1.3") ** 2, 20, 53),
    "lgamma_one_f64": lambda n: fit(n, near_zero(lambda u: mp.loggamma(1 + u) / u, -mp.euler), -0.5, 0.5, 27, 53),
    "lgamma_two_f64": lambda n: fit(n, near_zero(lambda u: mp.loggamma(2 + u) / u, 1 - mp.euler), -0.5, 1, 24, 53),
    "lgamma_rest_f64": lambda n: fit(n, stirling_rest, 0, ONE / 9, 14, 53),
    "digamma_f64": lambda n: fit(n, lambda v: mp.digamma(v + 1.5) / (v + 1.5 - DIGAMMA_ZERO), -0.5, 0.5, 24, 53),
    "digamma_rest_f64": lambda n: fit(n, digamma_rest, 0, ONE / 9, 15, 53),
    "trigamma_f64": lambda n: fit(n, lambda v: mp.polygamma(1, v + 1.5), -0.5, 0.5, 24, 53),
    "trigamma_rest_f64": lambda n: fit(n, trigamma_rest, 0, ONE / 9, 15, 53),
    "erfinv_small_f64": lambda n: fit(n, in_square(lambda x: mp.erfinv(x) / x, mp.sqrt(mp.pi) / 2), 0, ONE / 4, 6, 24),
    "erfinv_large_f64": lambda n: fit(n, shifted(erfinv_shortfall, mp.mpf("3.4")), "-2.57", "2.66", 12, 53),
    "cospi_f64": lambda n: fit(n, in_square(lambda x: (mp.cos(mp.pi * x) - 1) / x**2, -mp.pi**2 / 2), 0, 0.0626, 7, 53, lambda s: s),
}


def main():
    for name in sys.argv[1:] or FITS:
        FITS[name](name)
    if len(sys.argv) < 2:
        split("ln 2, f32", mp.log(2), [15, 24])
        split("ln 2, f64", mp.log(2), [32, 53])
        split("pi/2, f32", mp.pi / 2, [24, 24, 24])
        split("pi/2, f64", mp.pi / 2, [53, 53, 53])
        split("sqrt(1/2), f64", mp.sqrt(ONE / 2), [53])
        split("2/pi, f32", 2 / mp.pi, [24])
        split("pi, f32", mp.pi, [24, 24])
        split("pi, f64", mp.pi, [53, 53])
        split("log2 e, f32", LOG2_E, [24, 24])
        split("log2 e, f64", LOG2_E, [53])
        split("log10 e, f32", LOG10_E, [24, 24])
        split("log10 2, f32", mp.log10(2), [12, 24])
        split("2/3, f32", 2 * THIRD, [24, 24])
        split("2/3, f64", 2 * THIRD, [53, 53])
        split("2/5, f64", ONE * 2 / 5, [53, 53])
        split("digamma's zero less 1, f32", DIGAMMA_ZERO - 1, [24, 24])
        split("digamma's zero less 1, f64", DIGAMMA_ZERO - 1, [53, 53])
        split("log(2 pi)/2, f64", mp.log(2 * mp.pi) / 2, [53, 53])
        split("sqrt(pi)/2, f32", mp.sqrt(mp.pi) / 2, [24, 24])
        split("log pi, f64", mp.log(mp.pi), [53, 53])


main()
