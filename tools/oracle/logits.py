#!/usr/bin/env python3
"""The logits of a Llama-type GGUF by PyTorch, from the file's own formulas: weights dequantised to float, every step in --dtype.

Written from the GGUF specification and the Llama paper, slow on purpose, so that Votive's logits have something to be compared with.
    logits.py --model MODEL.gguf --ids IDS --out LOGITS.f32 [--dtype float32|float64]       raw f32 [T, V]
    logits.py golden --model MODEL.gguf --cache CACHE                                        all texts, and tests/golden/logits/*.golden
It refuses other architectures, scaled rotary positions and quantisations it has no formula for.
"""
import argparse
import pathlib

import numpy as np
import torch

import vocabulary

GGML = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0"}
BLOCK_BYTES = {"Q4_0": 18, "Q4_1": 20, "Q5_0": 22, "Q5_1": 24, "Q8_0": 34}


def half(block, at):
    return block[:, at : at + 2].copy().view(np.float16).astype(np.float32)


def nibbles(block, at):
    """32 integers of 16 bytes: the low halves first, then the high halves."""
    packed = block[:, at : at + 16]
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)


def fifth_bits(block, at):
    bits = block[:, at : at + 4].copy().view("<u4")
    return ((bits >> np.arange(32, dtype=np.uint32)) & 1).astype(np.float32) * 16


def dequantised(raw, kind, count):
    """w of 32 consecutive elements: Q4_0 d·(q−8), Q4_1 d·q+m, Q5_0 d·(q−16), Q5_1 d·q+m, Q8_0 d·q; d and m are f16."""
    if kind in ("F32", "F16"):
        return np.frombuffer(raw, dtype="<f4" if kind == "F32" else "<f2", count=count).astype(np.float32)
    size = BLOCK_BYTES[kind]
    block = np.frombuffer(raw, dtype=np.uint8, count=count // 32 * size).reshape(-1, size)
    d = half(block, 0)
    if kind == "Q4_0":
        w = d * (nibbles(block, 2) - 8)
    elif kind == "Q4_1":
        w = d * nibbles(block, 4) + half(block, 2)
    elif kind == "Q5_0":
        w = d * (nibbles(block, 6) + fifth_bits(block, 2) - 16)
    elif kind == "Q5_1":
        w = d * (nibbles(block, 8) + fifth_bits(block, 4)) + half(block, 2)
    else:
        w = d * block[:, 2:].view(np.int8).astype(np.float32)
    return w.reshape(-1)


class Llama:
    def __init__(self, path, dtype):
        self.file, self.dtype, self.kept = vocabulary.Reader(path), dtype, {}
        m = self.file.metadata
        if m["general.architecture"] != "llama" or any(k.startswith("llama.rope.scaling") for k in m) or "rope_freqs.weight" in self.file.tensors:
            raise SystemExit(f"{path}: not a plain llama architecture")
        self.layers, self.heads = m["llama.block_count"], m["llama.attention.head_count"]
        self.kv_heads = m.get("llama.attention.head_count_kv", self.heads)
        self.size = m["llama.rope.dimension_count"]
        self.base, self.epsilon = m.get("llama.rope.freq_base", 10000.0), m["llama.attention.layer_norm_rms_epsilon"]

    def weight(self, name):
        if name not in self.kept:
            dims, kind, offset = self.file.tensors[name]
            start, count = self.file.data + offset, int(np.prod(dims))
            values = dequantised(memoryview(self.file.raw)[start:], GGML[kind], count)
            self.kept[name] = torch.from_numpy(values.reshape(dims[::-1]).copy()).to(self.dtype)
        return self.kept[name]

    def norm(self, x, name):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.epsilon) * self.weight(name)

    def rotated(self, x):
        """x [T, H, D]: the pair (2i, 2i+1) of position t turns by t · base^(−2i/D). Angles in f64."""
        angle = torch.arange(x.shape[0], dtype=torch.float64)[:, None] * self.base ** (-torch.arange(0, self.size, 2, dtype=torch.float64) / self.size)
        cos, sin = angle.cos().to(self.dtype)[:, None], angle.sin().to(self.dtype)[:, None]
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    def __call__(self, ids):
        x, steps = self.weight("token_embd.weight")[ids], len(ids)
        mask = torch.full((steps, steps), -torch.inf, dtype=self.dtype).triu(1)
        for i in range(self.layers):
            def linear(y, name):
                return y @ self.weight(f"blk.{i}.{name}.weight").T

            h = self.norm(x, f"blk.{i}.attn_norm.weight")
            q, k, v = (linear(h, f"attn_{n}").view(steps, heads, self.size) for n, heads in (("q", self.heads), ("k", self.kv_heads), ("v", self.kv_heads)))
            q, k = self.rotated(q), self.rotated(k)
            k, v = (y.repeat_interleave(self.heads // self.kv_heads, dim=1) for y in (k, v))
            p = (torch.einsum("thd,shd->hts", q, k) / self.size**0.5 + mask).softmax(-1)
            x = x + linear(torch.einsum("hts,shd->thd", p, v).reshape(steps, -1), "attn_output")
            h = self.norm(x, f"blk.{i}.ffn_norm.weight")
            x = x + linear(torch.nn.functional.silu(linear(h, "ffn_gate")) * linear(h, "ffn_up"), "ffn_down")
        output = "output.weight" if "output.weight" in self.file.tensors else "token_embd.weight"
        return self.norm(x, "output_norm.weight") @ self.weight(output).T


def perplexity(logits, ids):
    """e to the mean of −log p(next id), in f64, over all positions that have a next one."""
    rows = logits[:-1].astype(np.float64)
    top = rows.max(1)
    return float(np.exp(np.mean(top + np.log(np.exp(rows - top[:, None]).sum(1)) - rows[np.arange(len(rows)), ids[1:]])))


def read_ids(path):
    return np.array(pathlib.Path(path).read_text().split(), dtype=np.int64)


def write_golden(path, name, logits, exact, ids):
    """The text that README.md describes: a few lines of what, then a row per position, then samples from a fixed seed."""
    order = np.argsort(-logits, axis=1, kind="stable")[:, :2]
    rows = [f"# {name}: tools/oracle/logits.py golden, PyTorch {torch.__version__}, float32; largest difference from its own float64 {np.abs(logits - exact).max():.3g}"]
    rows += [f"tokens {len(ids)}", f"vocabulary {logits.shape[1]}", f"perplexity {perplexity(logits, ids):.9g}"]
    rows += [f"top {t} {a} {logits[t, a]:.9g} {b} {logits[t, b]:.9g}" for t, (a, b) in enumerate(order)]
    rng = np.random.Generator(np.random.PCG64(20240317))
    samples = sorted({(int(t), int(v)) for t, v in zip(rng.integers(0, len(ids), 400), rng.integers(0, logits.shape[1], 400))})
    rows += [f"sample {t} {v} {logits[t, v]:.9g}" for t, v in samples]
    path.write_text("\n".join(rows) + "\n")


def golden(args):
    folder = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/logits"
    models = {dtype: Llama(args.model, dtype) for dtype in (torch.float32, torch.float64)}
    for path in sorted(folder.glob("*.ids")):
        ids = read_ids(path)
        single, double = (model(torch.from_numpy(ids)).to(torch.float32).numpy() for model in models.values())
        single.tofile(pathlib.Path(args.cache) / f"logits-{path.stem}.torch.f32")
        double.tofile(pathlib.Path(args.cache) / f"logits-{path.stem}.torch64.f32")
        write_golden(path.with_suffix(".golden"), path.stem, single, double, ids)
        print(f"{path.stem}: perplexity {perplexity(single, ids):.6f}, float64 {perplexity(double, ids):.6f}, largest difference {np.abs(single - double).max():.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["one", "golden"], default="one")
    parser.add_argument("--model", required=True)
    for name in ("--ids", "--out", "--cache"):
        parser.add_argument(name)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    args = parser.parse_args()
    with torch.no_grad():
        if args.what == "golden":
            golden(args)
        else:
            Llama(args.model, getattr(torch, args.dtype))(torch.from_numpy(read_ids(args.ids))).to(torch.float32).numpy().tofile(args.out)


if __name__ == "__main__":
    main()
