#!/usr/bin/env python3
"""One operation at a time, Votive beside its peers: seconds per call of each, in one run, taking turns; medians, ratios and their geometric mean.

    bench/peers/operations.py --votive build/release/bench/peer_votive [--cache CACHE] [--only WORD]… [--threads 1,2] [--rounds 3] [--budget 0.1]
                              [--peers PyTorch,…] [--survey] [--json FILE]
Every peer is a program that answers "THREADS BUDGET NAME" lines with the median seconds of a call; outputs are fresh and operands the same shapes. In each
round each peer measures the operation once and who begins moves on. Python's call (about 1–2 µs) is part of what PyTorch's and ONNX Runtime's users pay.
A peer that build.sh has not built is named and left out; an operation that a peer does not offer is a dash. --survey: in place of the table, what users call
beside it, which PyTorch alone has beside Votive (votive_survey.cpp).
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

from run import machine

HERE = pathlib.Path(__file__).resolve().parent


def names():
    """The operations of the table, in its order."""
    every = [f"matmul {d} {n}" for d in ("f32", "bf16", "f16") for n in (256, 512, 1024, 2048) if (d, n) != ("f16", 2048)]  # PyTorch's takes 45 s a call
    every += [f"linear {d} m{m} 4096x4096" for d in ("f32", "bf16", "f16") for m in (1, 16, 128, 512)]
    functions = ("exp", "tanh", "gelu", "silu", "log", "sin", "sigmoid", "erf")
    for tag in ("16k", "1M", "16M"):
        every += [f"add {d} {tag}" for d in ("f32", "bf16", "i64")]
        every += [f"{f} f32 {tag}" for f in functions] + [f"gelu bf16 {tag}", f"cast f32-bf16 {tag}"]
        every += [f"sum f32 {tag}", f"sum bf16 {tag}", f"max f32 {tag}", f"argmax f32 {tag}", f"cumsum f32 {tag}"]
    every += ["sum axis0 f32 4096x4096", "sum axis1 f32 4096x4096", "transpose f32 4096x4096"]
    for d in ("f32", "bf16", "f16"):
        every += [f"softmax {d} 4096x4096", f"softmax {d} 128x1024", f"layer_norm {d} 4096x4096", f"rms_norm {d} 4096x4096"]
    for d in ("f32", "bf16"):
        every += [f"conv3x3 64-64 56x56 {d}", f"depthwise3x3 128 56x56 {d}", f"attention causal 2048 h16 d64 {d}", f"attention causal 2048 h16 d128 {d}"]
        every += [f"attention decode 2048 h16 d64 {d}"]
    every += ["embedding f32 4096 of 32000x1024", "sort f32 1M", "topk50 f32 1M", "index_add f32 16384x256 to 1000"]
    return every + ["small add 16", "small matmul 4x4", "small add 16 recorded"]


def survey_names():
    """What votive_survey.cpp offers, in its order."""
    return [f"survey {name}" for name in re.findall(r'offer\(\s*"([^"]+)"', (HERE / "votive_survey.cpp").read_text())]


class Peer:
    def __init__(self, name, command, **environment):
        self.name, self.command, self.environment, self.programs = name, list(map(str, command)), environment, {}

    def exists(self):
        return all(pathlib.Path(part).exists() for part in self.command)

    def seconds(self, operation, threads, budget):
        """A program for each number of threads: some read it only once."""
        program = self.programs.get(threads)
        if program is None or program.poll() is not None:
            environment = {**os.environ, **{key: value.format(threads=threads) for key, value in self.environment.items()}}
            program = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
            self.programs[threads] = program
        program.stdin.write(f"{threads} {budget} {operation}\n")
        program.stdin.flush()
        line = program.stdout.readline()
        return json.loads(line).get("seconds") if line else None


def peers(cache, votive):
    python = cache / "venv/bin/python"
    return [
        Peer("Votive", [votive]),
        Peer("PyTorch", [python, HERE / "torch_operations.py"]),
        Peer("ONNX Runtime", [python, HERE / "onnx_operations.py"]),
        Peer("candle", [cache / "candle/target/release/candle-operations"], RAYON_NUM_THREADS="{threads}"),
        Peer("oneDNN", [cache / "onednn_operations"]),
        Peer("OpenBLAS", [cache / "openblas_operations"]),
    ]


def shown(seconds):
    if seconds is None:
        return "–"
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def main():
    cache = pathlib.Path(os.environ.get("VOTIVE_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "votive") / "peers"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--votive", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, default=cache)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--peers", default="")
    parser.add_argument("--survey", action="store_true")
    parser.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=0.1)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    wanted = [w for w in args.peers.split(",") if w] or (["PyTorch"] if args.survey else [])
    programs = []
    for peer in peers(args.cache.resolve(), args.votive.resolve()):
        if not peer.exists():
            print(f"not measured: {peer.name} (bench/peers/build.sh makes it)", file=sys.stderr)
        elif peer.name == "Votive" or not wanted or peer.name in wanted:
            programs.append(peer)
    operations = [n for n in (survey_names() if args.survey else names()) if not args.only or any(word in n for word in args.only)]
    print(f"{machine()}; {args.rounds} rounds\n\n| operation | threads | " + " | ".join(p.name for p in programs) + " | Votive is faster than PyTorch |")
    print("|---|---|" + "---|" * (len(programs) + 1))
    rows, ratios, slower = [], {t: [] for t in args.threads}, []
    for operation in operations:
        for threads in args.threads:
            samples = {p.name: [] for p in programs}
            for turn in range(args.rounds):
                for program in programs[turn % len(programs) :] + programs[: turn % len(programs)]:
                    if turn > 0 and not samples[program.name]:
                        continue
                    seconds = program.seconds(operation, threads, args.budget)
                    if seconds is not None:
                        samples[program.name].append(seconds)
            medians = {name: statistics.median(s) if s else None for name, s in samples.items()}
            ratio = medians["PyTorch"] / medians["Votive"] if medians.get("PyTorch") and medians.get("Votive") else None
            if ratio:
                ratios[threads].append(ratio)
                if ratio < 1:
                    slower.append(f"{operation} T{threads} {ratio:.2f}")
            print(f"| {operation} | {threads} | " + " | ".join(shown(medians[p.name]) for p in programs) + f" | {f'{ratio:.2f} ×' if ratio else '–'} |", flush=True)
            rows.append({"name": operation, "threads": threads, "seconds": medians, "ratio": ratio})
    print()
    for threads, all_ratios in ratios.items():
        if all_ratios:
            mean = math.exp(statistics.fmean(map(math.log, all_ratios)))
            print(f"{threads} thread{'s' if threads > 1 else ''}: geometric mean {mean:.2f} × PyTorch over {len(all_ratios)} operations, {sum(r >= 1 for r in all_ratios)} at least as fast")
    if slower:
        print("slower than PyTorch: " + "; ".join(slower))
    if args.json:
        args.json.write_text(json.dumps({"machine": machine(), "rounds": args.rounds, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
