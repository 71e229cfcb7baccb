#!/usr/bin/env python3
"""Prints the coefficients of votive/numerics/math_f32.h and math_f64.h (needs mpmath).

Each is the minimax polynomial of its function, found by Remez' exchange; then coefficients are rounded to the format one after the other, lowest
degree first, and the rest is fitted again, so that later ones make up for the rounding of earlier ones. The last number printed is the largest
weighted error that is left.   tools/fit_polynomials.py [name ...]
"""
import sys

import mpmath as mp

mp.mp.prec = 240


def round_to(x, bits):
    """x rounded to a significand of so many bits."""
    if x == 0:
        return x
    e = mp.floor(mp.log(abs(x), 2)) - (bits - 1)
    scale = mp.mpf(2) ** e
    return mp.nint(x / scale) * scale


def hex_float(x, bits):
    return float(x).hex().replace("0000000p", "p") + ("f" if bits <= 24 else "")


def fit(f, low, high, powers, weight, fixed, points=400):
    """Minimax of weight * (sum c_k x^k - f) over x in [low, high]; `fixed` maps powers to given coefficients."""
    free = [k for k in powers if k not in fixed]
    target = lambda x: f(x) - sum(c * x**k for k, c in fixed.items())
    if not free:
        xs = [low + (high - low) * mp.mpf(i) / points for i in range(points + 1)]
        return {}, max(abs(weight(x) * target(x)) for x in xs)
    n = len(free)
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / n) for i in range(n + 1)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / points) for i in range(points + 1)]
    wanted = [target(x) for x in grid]
    weights = [weight(x) for x in grid]
    best = None
    for _ in range(12):
        matrix = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for i, x in enumerate(nodes):
            for j, k in enumerate(free):
                matrix[i, j] = x**k
            matrix[i, n] = (-1) ** i / max(weight(x), mp.mpf(10) ** -15)
            right[i] = target(x)
        solution = mp.lu_solve(matrix, right)
        errors = [weights[i] * (sum(solution[j] * x**k for j, k in enumerate(free)) - wanted[i]) for i, x in enumerate(grid)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = ({k: solution[j] for j, k in enumerate(free)}, worst)
        if worst < abs(solution[n]) * mp.mpf("1.02"):
            break
        # one extremum per run of equal sign
        extrema = []
        for i, e in enumerate(errors):
            if extrema and (e > 0) == (errors[extrema[-1]] > 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < n + 1:
            break
        nodes = [grid[i] for i in extrema]
    return best


def rounded_fit(name, f, low, high, powers, bits, weight=lambda x: mp.mpf(1), fixed=None, exact_bits=None):
    low, high = mp.mpf(low), mp.mpf(high)
    fixed = dict(fixed or {})
    for k in powers:
        if k in fixed:
            continue
        solution, _ = fit(f, low, high, powers, weight, fixed)
        fixed[k] = round_to(solution[k], (exact_bits or {}).get(k, bits))
    _, error = fit(f, low, high, powers, weight, fixed)
    print(f"{name}: error 2^{float(mp.log(error, 2)):.2f}")
    for k in reversed(powers):
        print(f"  x^{k}: {hex_float(fixed[k], bits)}")
    return fixed


def split(name, x, bits, parts):
    """x as a sum of parts numbers of so many bits each."""
    out = []
    for b in (bits if isinstance(bits, list) else [bits] * parts):
        out.append(round_to(x, b))
        x -= out[-1]
    print(name, " ".join(hex_float(v, 53 if max(bits if isinstance(bits, list) else [bits]) > 24 else 24) for v in out))


def near_zero(g, value, radius=mp.mpf(10) ** -20):
    return lambda x: g(x) if abs(x) > radius else value


half_ln2 = mp.log(2) / 2 * mp.mpf("1.002")
quarter_pi = mp.pi / 4 * mp.mpf("1.001")


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def normal_tail(u):
    """exp(u^2/2) * Phi(-u)"""
    return mp.exp(u * u / 2) * mp.erfc(u / mp.sqrt(2)) / 2


def in_t(g, k):
    """g(u) * (u + k) as a function of t = (u - k) / (u + k)"""
    def h(t):
        u = k * (1 + t) / (1 - t)
        return g(u) * (u + k)
    return h


def t_of(u, k):
    return (mp.mpf(u) - k) / (mp.mpf(u) + k)


def fits():
    yield "exp_f32", lambda n: rounded_fit(n, near_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, mp.mpf(1) / 2), -half_ln2, half_ln2, range(5), 24, lambda r: r * r / mp.exp(r), {0: mp.mpf(1) / 2})
    yield "exp2_f32", lambda n: rounded_fit(n, near_zero(lambda r: (mp.mpf(2)**r - 1) / r, mp.log(2)), -0.501, 0.501, range(6), 24, lambda r: abs(r) / mp.mpf(2)**r)
    yield "log_f32", lambda n: rounded_fit(n, near_zero(lambda f: (mp.log(1 + f) - f + f * f / 2) / f**3, mp.mpf(1) / 3), -1 / mp.mpf(3), mp.mpf(1) / 3 + mp.mpf("0.001"), range(9), 24, lambda f: abs(f**3 / mp.log(1 + f)) if f else mp.mpf(0))
    yield "sin_f32", lambda n: rounded_fit(n, near_zero(lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, -mp.mpf(1) / 6), 0, quarter_pi**2, range(3), 24, lambda s: s)
    yield "cos_f32", lambda n: rounded_fit(n, near_zero(lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2, mp.mpf(1) / 24), 0, quarter_pi**2, range(3), 24, lambda s: s * s / mp.cos(mp.sqrt(s)))
    yield "sinpi_f32", lambda n: rounded_fit(n, near_zero(lambda s: mp.sin(mp.pi * mp.sqrt(s)) / mp.sqrt(s), mp.pi), 0, 0.0626, range(5), 24, lambda s: mp.mpf(1), {0: mp.pi})
    yield "cospi_f32", lambda n: rounded_fit(n, near_zero(lambda s: (mp.cos(mp.pi * mp.sqrt(s)) - 1) / s, -mp.pi**2 / 2), 0, 0.0626, range(5), 24, lambda s: s)
    yield "tanh_f32", lambda n: rounded_fit(n, near_zero(lambda s: (mp.tanh(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, -mp.mpf(1) / 3), 0, mp.mpf("0.63")**2, range(5), 24, lambda s: s)
    yield "erf_small_f32", lambda n: rounded_fit(n, near_zero(lambda s: mp.erf(mp.sqrt(s)) / mp.sqrt(s) - 1, 2 / mp.sqrt(mp.pi) - 1), 0, mp.mpf("0.93")**2, range(7), 24)
    yield "erf_large_f32", lambda n: rounded_fit(n, lambda t: -mp.log(mp.erfc(t)) / t - 1, "0.9", 4, range(7), 24, lambda t: t * mp.erfc(t) / mp.erf(t))
    yield "gelu_f32", lambda n: rounded_fit(n, in_t(normal_tail, mp.mpf(4)), t_of(0, mp.mpf(4)), t_of(15, mp.mpf(4)), range(10), 24, lambda t: 1 / in_t(normal_tail, mp.mpf(4))(t))
    yield "erfc_f32", lambda n: rounded_fit(n, in_t(erfcx, mp.mpf(3)), t_of("0.45", mp.mpf(3)), t_of(10.2, mp.mpf(3)), range(10), 24, lambda t: 1 / in_t(erfcx, mp.mpf(3))(t))
    yield "log2_f32", lambda n: rounded_fit(n, near_zero(lambda f: (mp.log(1 + f, 2) / f - mp.log(mp.e, 2)) / f, -mp.log(mp.e, 2) / 2), -1 / mp.mpf(3), mp.mpf(1) / 3 + mp.mpf("0.001"), range(10), 24, lambda f: abs(f * f / mp.log(1 + f, 2)) if f else mp.mpf(0))
    yield "exp_f64", lambda n: rounded_fit(n, near_zero(lambda r: (mp.exp(r) - 1 - r) / r**2, mp.mpf(1) / 2), -half_ln2, half_ln2, range(11), 53, lambda r: r * r / mp.exp(r), {0: mp.mpf(1) / 2})
    # log((1+s)/(1-s)) = 2s + s*z*R(z), z = s^2
    yield "log_f64", lambda n: rounded_fit(n, near_zero(lambda z: (mp.log((1 + mp.sqrt(z)) / (1 - mp.sqrt(z))) / mp.sqrt(z) - 2) / z, mp.mpf(2) / 3), 0, (3 - 2 * mp.sqrt(2))**2 * mp.mpf("1.01"), range(7), 53, lambda z: z)
    yield "sinpi_f64", lambda n: rounded_fit(n, near_zero(lambda s: mp.sin(mp.pi * mp.sqrt(s)) / mp.sqrt(s), mp.pi), 0, 0.0626, range(8), 53, lambda s: mp.mpf(1), {0: mp.pi})
    yield "cospi_f64", lambda n: rounded_fit(n, near_zero(lambda s: (mp.cos(mp.pi * mp.sqrt(s)) - 1) / s, -mp.pi**2 / 2), 0, 0.0626, range(8), 53, lambda s: s)


def main():
    for name, run in fits():
        if len(sys.argv) < 2 or name in sys.argv[1:]:
            run(name)
            sys.stdout.flush()
    if len(sys.argv) < 2:
        split("ln2 f32", mp.log(2), [15, 24], 2)
        split("ln2 f64", mp.log(2), [32, 53], 2)
        split("pi/2 f32", mp.pi / 2, [24, 24, 24], 3)
        split("log2e f32", 1 / mp.log(2), 24, 2)
        split("2/pi f32", 2 / mp.pi, 24, 1)
        split("pi f32", mp.pi, 24, 2)
        split("pi f64", mp.pi, 53, 2)
        split("log2e f64", 1 / mp.log(2), 53, 1)


main()
