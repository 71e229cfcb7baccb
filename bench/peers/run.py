#!/usr/bin/env python3
"""Prompt and decode tokens per second of Votive and its peers on one GGUF file: one run, interleaved, medians, one table.

    bench/peers/run.py [--votive BINARY] --model FILE [--cache CACHE] [--threads 1,2] [--repetitions 5] [--json FILE]
The programs take turns (who goes first moves on each round), so that a machine that slows down slows everybody. Peers that build.sh has not
built are named and left out. llama.cpp: llama-bench, one warm-up, decode from an empty cache; candle: bench/peers/candle; Votive:
`votive bench-model`. Prompts give logits of the last token alone. A rate is of the tokens of that phase only, loading left out.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from machine import machine  # noqa: E402

COLUMNS = ("prompt 128", "prompt 512", "decode 128")


def output(command, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with {done.returncode}: {done.stderr.strip()[-800:]}")
    return done.stdout


def last_object(text):
    """The JSON object in the last line that holds one."""
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def both(rates):
    return {"prompt": rates["prompt_tokens_per_second"], "decode": rates["decode_tokens_per_second"]}


class Votive:
    name = "Votive"

    def __init__(self, binary, model):
        self.binary, self.model = binary, model

    def rates(self, threads):
        def once(prompt, decode):
            command = [self.binary, "bench-model", self.model, "--threads", threads, "--prompt", prompt, "--decode", decode, "--json"]
            return both(last_object(output(command)))

        short, long = once(128, 128), once(512, 1)
        return {"prompt 128": short["prompt"], "prompt 512": long["prompt"], "decode 128": short["decode"]}


class LlamaCpp:
    name = "llama.cpp"

    def __init__(self, cache, model):
        self.program, self.model = cache / "llama-build/bin/llama-bench", model

    def rates(self, threads):
        rows = json.loads(output([self.program, "-m", self.model, "-t", threads, "-p", "128,512", "-n", 128, "-r", 1, "-o", "json"]))
        return {f"prompt {r['n_prompt']}" if r["n_prompt"] else f"decode {r['n_gen']}": r["avg_ts"] for r in rows}


class Candle:
    name = "candle 0.11"

    def __init__(self, cache, model):
        self.program, self.model = cache / "candle/target/release/candle-peer", model

    def rates(self, threads):
        def once(prompt, decode):
            return both(last_object(output([self.program, self.model, prompt, decode], RAYON_NUM_THREADS=str(threads))))

        short, long = once(128, 128), once(512, 1)
        return {"prompt 128": short["prompt"], "prompt 512": long["prompt"], "decode 128": short["decode"]}


def measured(programs, threads, repetitions, say):
    """{program: {threads: {column: [rates]}}}"""
    rates = {p.name: {t: {c: [] for c in COLUMNS} for t in threads} for p in programs}
    for turn in range(repetitions):
        for t in threads:
            for program in programs[turn % len(programs) :] + programs[: turn % len(programs)]:
                one = program.rates(t)
                for column in COLUMNS:
                    rates[program.name][t][column].append(one[column])
                say(f"round {turn + 1} of {repetitions}, {t} threads, {program.name}: " + ", ".join(f"{c} {one[c]:.0f}" for c in COLUMNS))
    return rates


def table(rates, threads):
    def median(name, t, column):
        return statistics.median(rates[name][t][column])

    lines = ["| tokens/s, median (lowest–highest) | threads | " + " | ".join(COLUMNS) + " |", "|---|---|" + "---|" * len(COLUMNS)]
    for t in threads:
        for name in rates:
            cells = [f"{median(name, t, c):.1f} ({min(rates[name][t][c]):.0f}–{max(rates[name][t][c]):.0f})" for c in COLUMNS]
            lines.append(f"| {name} | {t} | " + " | ".join(cells) + " |")
        for name in rates:
            if name != "Votive" and "Votive" in rates:
                ratios = [f"{median('Votive', t, c) / median(name, t, c):.2f} ×" for c in COLUMNS]
                lines.append(f"| **Votive / {name}** | {t} | " + " | ".join(ratios) + " |")
    return "\n".join(lines)


def main():
    cache = pathlib.Path(os.environ.get("VOTIVE_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "votive") / "peers"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--votive", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, default=cache)
    parser.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",")], default=[1, 2])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    model = args.model.resolve()
    programs = [Votive(args.votive.resolve(), model)] if args.votive else []
    for peer in (LlamaCpp(args.cache, model), Candle(args.cache, model)):
        if peer.program.exists():
            programs.append(peer)
        else:
            print(f"not measured: {peer.name} ({peer.program} is missing; bench/peers/build.sh makes it)", file=sys.stderr)
    if not programs:
        raise SystemExit("nothing to measure")
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"this machine is busy (load {load:.1f}): rates will be low and far apart", file=sys.stderr)
    rates = measured(programs, args.threads, args.repetitions, lambda text: print(text, file=sys.stderr, flush=True))
    version = args.cache / "llama.cpp-version"
    versions = {"llama.cpp": version.read_text().strip() if version.exists() else "unknown", "candle": "0.11.0"}
    print(f"{machine()}\n{model.name}; llama.cpp: {versions['llama.cpp']}; {args.repetitions} rounds; load before {load:.1f}\n\n{table(rates, args.threads)}")
    if args.json:
        whole = {"machine": machine(), "model": model.name, "versions": versions, "repetitions": args.repetitions, "load_before": load, "tokens_per_second": rates}
        args.json.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
