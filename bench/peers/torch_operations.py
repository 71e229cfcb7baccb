#!/usr/bin/env python3
"""PyTorch as a peer of operations.py."""
import torch
import torch.nn.functional as F
import torch_survey
from worker import serve

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
SIZES = {"16k": 1 << 14, "1M": 1 << 20, "16M": 1 << 24}
FUNCTIONS = {
    "exp": torch.exp, "tanh": torch.tanh, "gelu": F.gelu, "silu": F.silu, "log": torch.log, "sin": torch.sin, "sigmoid": torch.sigmoid, "erf": torch.erf,
    "sum": torch.sum, "max": torch.max, "argmax": torch.argmax, "cumsum": lambda x: torch.cumsum(x, 0),
}  # fmt: skip


def randn(*shape, dtype="f32"):
    return torch.randn(*shape).to(DTYPES[dtype])


def no_grad(function):
    def call():
        with torch.no_grad():
            function()

    return call


def operations():
    ops = {}

    def offer(name, build):
        ops[name] = lambda threads: no_grad(build())

    def product(dtype, n):
        a, b = randn(n, n, dtype=dtype), randn(n, n, dtype=dtype)
        return lambda: a @ b

    def linear(dtype, m):
        x, w = randn(m, 4096, dtype=dtype), randn(4096, 4096, dtype=dtype)
        return lambda: F.linear(x, w)

    def function(f, name, dtype, n):
        x = (torch.rand(n) + 0.1 if name == "log" else torch.randn(n)).to(DTYPES[dtype])
        return lambda: f(x)

    def add(a, b):
        return lambda: a + b

    def over(f, *tensors):
        return lambda: f(*tensors)

    for dtype in DTYPES:
        for n in (256, 512, 1024, 2048):
            offer(f"matmul {dtype} {n}", lambda dtype=dtype, n=n: product(dtype, n))
        for m in (1, 16, 128, 512):
            offer(f"linear {dtype} m{m} 4096x4096", lambda dtype=dtype, m=m: linear(dtype, m))
        for tag, shape in {"4096x4096": (4096, 4096), "128x1024": (128, 1024)}.items():
            offer(f"softmax {dtype} {tag}", lambda dtype=dtype, shape=shape: over(lambda x: F.softmax(x, -1), randn(*shape, dtype=dtype)))
        offer(f"layer_norm {dtype} 4096x4096", lambda dtype=dtype: over(lambda x, w: F.layer_norm(x, (4096,), w, w), randn(4096, 4096, dtype=dtype), torch.ones(4096, dtype=DTYPES[dtype])))
        offer(f"rms_norm {dtype} 4096x4096", lambda dtype=dtype: over(lambda x, w: F.rms_norm(x, (4096,), w), randn(4096, 4096, dtype=dtype), torch.ones(4096, dtype=DTYPES[dtype])))
    for tag, n in SIZES.items():
        for dtype in ("f32", "bf16"):
            for name, f in FUNCTIONS.items():
                offer(f"{name} {dtype} {tag}", lambda f=f, name=name, dtype=dtype, n=n: function(f, name, dtype, n))
            offer(f"add {dtype} {tag}", lambda dtype=dtype, n=n: add(randn(n, dtype=dtype), randn(n, dtype=dtype)))
        offer(f"cast f32-bf16 {tag}", lambda n=n: over(lambda x: x.to(torch.bfloat16), randn(n)))
        offer(f"add i64 {tag}", lambda n=n: over(lambda x: x + x, torch.randint(-9, 9, (n,))))
    offer("sum axis0 f32 4096x4096", lambda: over(lambda x: x.sum(0), randn(4096, 4096)))
    offer("sum axis1 f32 4096x4096", lambda: over(lambda x: x.sum(1), randn(4096, 4096)))
    offer("transpose f32 4096x4096", lambda: over(lambda x: x.t().contiguous(), randn(4096, 4096)))
    for dtype in ("f32", "bf16"):
        offer(f"conv3x3 64-64 56x56 {dtype}", lambda dtype=dtype: over(lambda x, w: F.conv2d(x, w, padding=1), randn(1, 64, 56, 56, dtype=dtype), randn(64, 64, 3, 3, dtype=dtype)))
        offer(f"depthwise3x3 128 56x56 {dtype}", lambda dtype=dtype: over(lambda x, w: F.conv2d(x, w, padding=1, groups=128), randn(1, 128, 56, 56, dtype=dtype), randn(128, 1, 3, 3, dtype=dtype)))
        for d in (64, 128):
            offer(f"attention causal 2048 h16 d{d} {dtype}", lambda dtype=dtype, d=d: over(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), randn(1, 16, 2048, d, dtype=dtype)))
        offer(f"attention decode 2048 h16 d64 {dtype}", lambda dtype=dtype: over(lambda q, k: F.scaled_dot_product_attention(q, k, k), randn(1, 16, 1, 64, dtype=dtype), randn(1, 16, 2048, 64, dtype=dtype)))
    offer("embedding f32 4096 of 32000x1024", lambda: over(F.embedding, torch.randint(0, 32000, (4096,)), randn(32000, 1024)))
    offer("sort f32 1M", lambda: over(torch.sort, randn(1 << 20)))
    offer("topk50 f32 1M", lambda: over(lambda x: torch.topk(x, 50), randn(1 << 20)))
    offer("index_add f32 16384x256 to 1000", lambda: over(lambda x, i, s: x.index_add(0, i, s), torch.zeros(1000, 256), torch.randint(0, 1000, (16384,)), randn(16384, 256)))
    offer("small add 16", lambda: over(lambda x: x + x, randn(16)))
    offer("small matmul 4x4", lambda: over(lambda x: x @ x, randn(4, 4)))

    for name in torch_survey.SURVEY:
        offer(f"survey {name}", lambda name=name: torch_survey.build(name))

    def recorded(threads):
        x = torch.randn(16, requires_grad=True)
        return lambda: x + x

    ops["small add 16 recorded"] = recorded
    return ops


if __name__ == "__main__":
    torch.manual_seed(0)
    serve(operations(), torch.set_num_threads)
