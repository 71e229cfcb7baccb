#!/usr/bin/env python3
"""Compares logits of several programs with a reference: top-1 agreement, largest difference, perplexity, mean KL. Needs numpy alone.

    compare_logits.py --reference 'CACHE/logits-{}.torch.f32' 'votive=DIR/{}.f32' 'peer:llama.cpp=CACHE/logits-{}.llamacpp.f32' [--require]
    compare_logits.py --golden 'votive=DIR/{}.f32' [--require]                       against the small committed form alone
Files are raw f32 [T, V]; {} stands for each of --texts. --require fails unless every NAME reaches top-1 ≥ 99.9 % over all texts,
|difference| ≤ 0.1 and perplexity within 0.05 %; names that start with "peer:" are only shown.
"""
import argparse
import pathlib
import sys

import numpy as np


def log_softmax(rows):
    rows = rows.astype(np.float64)
    rows = rows - rows.max(1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(1, keepdims=True))


def perplexity(logp, ids):
    return float(np.exp(-np.mean(logp[np.arange(len(ids) - 1), ids[1:]])))


def read(path, tokens):
    logits = np.fromfile(path, dtype="<f4")
    if logits.size == 0 or logits.size % tokens:
        raise SystemExit(f"{path}: {logits.size} floats are not rows of {tokens} tokens")
    return logits.reshape(tokens, -1)


def against_golden(path, logits, ids):
    """(equal top-1, largest difference over all top-two and sampled logits, perplexity, reference's perplexity, nothing)."""
    same, worst, expected = 0, 0.0, 0.0
    for kind, *rest in (line.split() for line in pathlib.Path(path).read_text().splitlines() if not line.startswith("#")):
        if kind == "perplexity":
            expected = float(rest[0])
        elif kind == "top":
            t = int(rest[0])
            same += int(logits[t].argmax()) == int(rest[1])
            worst = max(worst, *(abs(float(logits[t, int(v)]) - float(x)) for v, x in (rest[1:3], rest[3:5])))
        elif kind == "sample":
            worst = max(worst, abs(float(logits[int(rest[0]), int(rest[1])]) - float(rest[2])))
    return same, worst, perplexity(log_softmax(logits), ids), expected, float("nan")


def against_full(reference, logits, ids):
    p, q = log_softmax(reference), log_softmax(logits)
    kl = float(np.mean((np.exp(p) * (p - q)).sum(1)))
    same = int((reference.argmax(1) == logits.argmax(1)).sum())
    return same, float(np.abs(reference - logits).max()), perplexity(q, ids), perplexity(p, ids), kl


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", default="english,code,multilingual")
    parser.add_argument("--ids", default=str(pathlib.Path(__file__).resolve().parents[2] / "tests/golden/logits/{}.ids"))
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--reference")
    source.add_argument("--golden", nargs="?", const=str(pathlib.Path(__file__).resolve().parents[2] / "tests/golden/logits/{}.golden"))
    parser.add_argument("--require", action="store_true")
    parser.add_argument("candidates", nargs="+", metavar="NAME=LOGITS.f32")
    args = parser.parse_args()
    failed = []
    print("| program | text | top-1 the same | largest \\|difference\\| | perplexity | reference's | relative | mean KL |\n|---|---|---|---|---|---|---|---|")
    for candidate in args.candidates:
        name, _, pattern = candidate.rpartition("=")
        all_same, all_count, all_worst, all_relative = 0, 0, 0.0, 0.0
        for text in args.texts.split(","):
            ids = np.array(pathlib.Path(args.ids.format(text)).read_text().split(), dtype=np.int64)
            logits = read(pattern.format(text), len(ids))
            if args.golden:
                same, worst, ppl, expected, kl = against_golden(args.golden.format(text), logits, ids)
            else:
                reference = read(args.reference.format(text), len(ids))
                if reference.shape != logits.shape:
                    raise SystemExit(f"{pattern.format(text)}: {logits.shape[1]} logits per token, the reference has {reference.shape[1]}")
                same, worst, ppl, expected, kl = against_full(reference, logits, ids)
            relative = ppl / expected - 1
            print(f"| {name} | {text} | {same} of {len(ids)}, {100 * same / len(ids):.2f} % | {worst:.4f} | {ppl:.5f} | {expected:.5f} | {100 * relative:+.4f} % | {kl:.2e} |")
            all_same, all_count, all_worst = all_same + same, all_count + len(ids), max(all_worst, worst)
            all_relative = max(all_relative, abs(relative))
        print(f"| {name} | together | {all_same} of {all_count}, {100 * all_same / all_count:.2f} % | {all_worst:.4f} | | | {100 * all_relative:.4f} % | |")
        if not (all_same >= 0.999 * all_count and all_worst <= 0.1 and all_relative <= 0.0005) and not name.startswith("peer:"):
            failed.append(name)
    if args.require and failed:
        sys.exit(f"outside the required bounds: {', '.join(failed)}")


if __name__ == "__main__":
    main()
