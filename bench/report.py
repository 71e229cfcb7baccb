#!/usr/bin/env python3
"""Runs the benchmarks of bench/subjects and shows what they measured: a table with the share of the limit, the goal and the margin.

    bench/report.py FOLDER [SUBJECT…] [--only WORD] [--json] [--html FILE] [--markdown FILE] [--threads 1,2] [--rounds 9] [--seconds 0.02]
FOLDER holds the programs bench_SUBJECT. --json prints {"machine": …, "rows": [{"name", "threads", "value", "unit", "ratio", "goal", "margin"}]} on
standard output alone; tables then go nowhere. A ratio is the median of rounds in which the case and its limit took turns; a goal in ns is shown as
the share of it that was used. Nothing fails because of a figure.
"""
import argparse
import html
import json
import os
import pathlib
import subprocess
import sys

from machine import machine

ORDER = ["limits", "matmul", "quantised", "convolution", "attention", "pointwise", "reductions", "rows", "movement", "small"]


def share(row):
    """What was reached and what was asked, as words."""
    if row["unit"].startswith("ns"):
        return "", f"≤ {row['allowed']:g} {row['unit']}" if "allowed" in row else ""
    reached = f"{100 * row['ratio']:.0f} % of {row['limit']}" if "ratio" in row else ""
    return reached, f"{100 * row['goal']:.0f} %" if "goal" in row else ""


def verdict(row):
    if "margin" not in row:
        return ""
    return f"{100 * row['margin']:+.0f} %" + ("" if row["margin"] >= 0 else "  missed")


def line_of(row, width):
    reached, goal = share(row)
    return f"  {row['name']:<{width}} T{row['threads']}  {row['value']:>9.4g} {row['unit']:<10}  {reached:<20} {goal:<20} {verdict(row)}"


def bars(rows, name):
    """A page that needs nothing else: a bar per row, the goal a mark on it."""
    parts = [
        "<!doctype html><meta charset=utf-8><title>Votive: speed</title><style>",
        "body{font:14px/1.4 system-ui;margin:2em auto;max-width:70em}table{border-collapse:collapse;width:100%}td{padding:2px 8px;white-space:nowrap}",
        ".bar{position:relative;background:#eee;width:24em;height:14px}.bar i{position:absolute;left:0;top:0;bottom:0;background:#3a7}",
        ".missed i{background:#c63}.bar b{position:absolute;top:-2px;bottom:-2px;width:2px;background:#000}h2{margin:1.2em 0 .3em}</style>",
        f"<h1>Votive: shares of the machine's limits</h1><p>{html.escape(name)}</p>",
    ]
    subject = None
    for row in rows:
        if row["subject"] != subject:
            parts.append(("</table>" if subject else "") + f"<h2>{html.escape(row['subject'])}</h2><table>")
            subject = row["subject"]
        reached, goal = share(row)
        ratio = row.get("ratio", 0)
        missed = " missed" if row.get("margin", 0) < 0 else ""
        mark = f"<b style='left:{min(100, 100 * row['goal'] / 1.5):.1f}%'></b>" if "goal" in row else ""
        parts.append(
            f"<tr><td>{html.escape(row['name'])}<td>T{row['threads']}<td align=right>{row['value']:.4g} {html.escape(row['unit'])}"
            f"<td><div class='bar{missed}'><i style='width:{min(100, 100 * ratio / 1.5):.1f}%'></i>{mark}</div>"
            f"<td>{html.escape(reached)}<td>{html.escape(goal)}<td>{html.escape(verdict(row))}"
        )
    return "\n".join(parts + ["</table>"]) + "\n"


def markdown(rows, name):
    """The table as docs/SPEED.md keeps it: a row per case, columns for one and two threads."""
    lines, subject, width = [f"{name}", ""], None, sorted({r["threads"] for r in rows})
    cases = {}
    for row in rows:
        cases.setdefault((row["subject"], row["name"]), {})[row["threads"]] = row
    for (where, case), by_threads in cases.items():
        if where != subject:
            lines += ["", f"### {where}", "", "| | goal | " + " | ".join(f"T{t}" for t in width) + " |", "|---|---|" + "---|" * len(width)]
            subject = where
        cells = []
        for t in width:
            row = by_threads.get(t)
            if row is None:
                cells.append("")
                continue
            reached, goal = share(row)
            missed = row.get("margin", 0) < 0
            text = f"{row['value']:.3g} {row['unit']}" + (f", {reached.split(' of ')[0]}" if reached else "")
            cells.append(f"{text} ✗" if missed else text)
        first = next(iter(by_threads.values()))
        reached, goal = share(first)
        limit = f"{goal} of {first['limit']}" if goal and first["limit"] else goal or (f"({first['limit']})" if first["limit"] else "")
        lines.append(f"| {case} | {limit} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("subjects", nargs="*")
    parser.add_argument("--only", default=[], action="append", help="cases whose name contains this")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--html", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", default="9")
    parser.add_argument("--seconds", default="0.02")
    args = parser.parse_args()
    have = [p.name.removeprefix("bench_") for p in args.folder.glob("bench_*") if os.access(p, os.X_OK) and p.is_file()]
    have.sort(key=lambda s: (ORDER.index(s) if s in ORDER else len(ORDER), s))
    unknown = [s for s in args.subjects if s not in have]
    if unknown or not have:
        raise SystemExit(f"no benchmark '{' '.join(unknown)}'; there are: {' '.join(have) or 'none, build them first'}")
    name, rows = machine(), []
    say = (lambda text: None) if args.json else (lambda text: print(text, flush=True))
    say(name)
    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"this machine is busy (load {load:.1f}); ratios hold better than rates", file=sys.stderr)
    for subject in args.subjects or have:
        say(f"\n{subject}")
        command = [args.folder / f"bench_{subject}", "--threads", args.threads, "--rounds", args.rounds, "--seconds", args.seconds, *args.only]
        with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True) as program:
            for line in program.stdout:
                row = {"subject": subject, **json.loads(line)}
                rows.append(row)
                say(line_of(row, 44))
        if program.returncode != 0:
            raise SystemExit(f"bench_{subject} ended with {program.returncode}")
    if not rows:
        raise SystemExit(f"no case's name contains {' or '.join(args.only)}")
    with_goal = [r for r in rows if "margin" in r]
    say(f"\n{sum(r['margin'] >= 0 for r in with_goal)} of {len(with_goal)} goals reached; {len(rows) - len(with_goal)} rows have none")
    if args.json:
        print(json.dumps({"machine": name, "rows": rows}, indent=1))
    if args.markdown:
        args.markdown.write_text(markdown(rows, name), encoding="utf-8")
    if args.html:
        args.html.write_text(bars(rows, name), encoding="utf-8")


if __name__ == "__main__":
    main()
