#!/usr/bin/env python3
"""Compares Votive with PyTorch on PyTorch's own samples: torch.testing._internal.common_methods_invocations.op_db.

    ninja -C build/release opinfo_run
    tools/opinfo/compare_opinfo.py build/release/tools/opinfo/opinfo_run [--ops 'add|nn.*conv'] [--json FILE] [--cases]

Needs torch with numpy and expecttest. For each operation with a spelling (pointwise.py, movement.py, …), each sample and dtype: forward values
against PyTorch's f64 result within the contract's bound, or exactly; f64 gradients for a random cotangent against PyTorch's autograd. Each
difference that remains must have its reason in the tables; exit status 1 when one has not.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

import calls
from calls import DTYPES, INTEGERS, NAMES, Skip

import pointwise, movement, indexing, reductions, products, norms  # noqa: E401,F401  the tables

KINDS = ("f32", "f64", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool")


def mapped(value, tensor=lambda t: t, number=lambda v: v):
    """The same structure with every tensor and every float replaced."""
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, (list, tuple)):
        parts = [mapped(v, tensor, number) for v in value]
        return tuple(parts) if isinstance(value, tuple) else parts
    if isinstance(value, dict):
        return {k: mapped(v, tensor, number) for k, v in value.items()}
    return value


def tensors_of(value):
    found = []
    mapped(value, lambda t: found.append(t))
    return found


class Case:
    """One sample in one dtype: the call for the runner, PyTorch's answer, and the truth."""

    def __init__(self, op, spelling, dtype, sample, generator):
        self.op, self.spelling, self.dtype = op, spelling, dtype
        number = {"bf16": "bf16", "f16": "f16"}.get(dtype, "f32") if spelling.literals else "f32"
        if spelling.numbers or (spelling.literals and dtype == "f64"):
            rounded = lambda v: v  # noqa: E731
        else:
            rounded = lambda v: torch.tensor(v, dtype=DTYPES[number]).item()  # noqa: E731
        arguments = (sample.input, list(sample.args), dict(sample.kwargs))
        if any(t.layout != torch.strided or t.is_complex() for t in tensors_of(arguments)):
            raise Skip("a sparse or complex argument")
        wants = dtype == "f64" and op.supports_autograd and spelling.gradient is not None

        def fresh(t, wanted=True):
            return t.detach().clone(memory_format=torch.contiguous_format).requires_grad_(wants and wanted and t.dtype == torch.float64)

        try:
            self.call, self.theirs = self.both(mapped(arguments, fresh, rounded))
        except RuntimeError as problem:  # PyTorch has no derivative with respect to a weight or a target: then of the input alone
            if "not differentiable with respect to" not in str(problem):
                raise
            self.call, self.theirs = self.both(mapped(arguments, lambda t: fresh(t, t is sample.input), rounded))
        if self.call.inputs and not any(isinstance(t, torch.Tensor) for t in self.call.inputs):
            raise Skip("numbers without a tensor")
        self.wanted, self.seeds, self.gradients = [], [], []
        if any(NAMES.get(t.dtype) is None for t in self.theirs):
            raise Skip("a complex result")
        if wants:
            self.differentiate(generator)
        self.theirs = [t.detach() for t in self.theirs]
        self.truth = self.theirs
        if dtype != "f64" and spelling.truth and any(t.is_floating_point() for t in self.theirs):
            exact = lambda t: t.to(torch.float64) if NAMES.get(t.dtype) == dtype else t  # noqa: E731
            wide = lambda v: torch.float64 if v is DTYPES[dtype] else v  # noqa: E731
            again = mapped(arguments, lambda t: exact(t.detach().clone()), rounded)
            again[2].update({k: wide(v) for k, v in again[2].items()})
            try:
                _, self.truth = self.both(again)
            except (RuntimeError, TypeError, ValueError, IndexError):
                self.truth = self.theirs  # an operation of that dtype alone
            if len(self.truth) != len(self.theirs) or any(a.shape != b.shape for a, b in zip(self.truth, self.theirs)):
                self.truth = self.theirs
        self.absolute = None
        if spelling.bound.scale is calls.absolute_values:
            positive = mapped(arguments, lambda t: t.detach().abs().to(torch.float64) if t.is_floating_point() else t.detach().clone(), abs)
            positive[2].update({k: torch.float64 if v is DTYPES[dtype] else v for k, v in positive[2].items()})
            self.absolute = self.both(positive)[1]

    def both(self, arguments):
        call = self.spelling.translate(arguments[0], *arguments[1], **arguments[2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call.expect() if call.expect else self.op.op(arguments[0], *arguments[1], **arguments[2])
        if result is NotImplemented:
            raise Skip("numbers without a tensor")
        return call, [t if isinstance(t, torch.Tensor) else torch.as_tensor(t) for t in (tensors_of(result) or [torch.as_tensor(result)])]

    def differentiate(self, generator):
        inputs = [t for t in self.call.inputs if isinstance(t, torch.Tensor) and t.requires_grad]
        outputs = [t for t in self.theirs if t.requires_grad]
        if not inputs or not outputs:
            return
        self.seeds = [torch.randn(t.shape, dtype=torch.float64, generator=generator).to(t.dtype) if t.requires_grad else None for t in self.theirs]
        unique = list({id(t): t for t in inputs}.values())
        try:
            found = torch.autograd.grad(outputs, unique, [s for s in self.seeds if s is not None], allow_unused=True)
        except RuntimeError:  # PyTorch has no derivative with respect to one of them
            self.seeds = []
            return
        by_id = {id(t): g for t, g in zip(unique, found)}
        if len(unique) != len(inputs):
            self.seeds = []
            return  # one tensor in two places: its gradient belongs to neither
        self.wanted = [isinstance(t, torch.Tensor) and t.requires_grad for t in self.call.inputs]
        self.gradients = [torch.zeros_like(t) if by_id[id(t)] is None else by_id[id(t)].detach() for t in inputs]


def written(value):
    """JSON has no infinities: the runner reads them as strings."""
    return mapped(value, number=lambda v: v if v - v == 0 else str(v))


def bytes_of(t):
    return t.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if t.numel() else b""


def write_calls(folder, cases):
    with open(folder / "calls.jsonl", "w") as lines, open(folder / "calls.bin", "wb") as data:
        data.write(bytes(64))  # never an empty file

        def put(t, **more):
            content = bytes_of(t)
            entry = {"dtype": NAMES[t.dtype], "shape": list(t.shape), "at": data.tell(), "bytes": len(content), **more}
            data.write(content)
            return entry

        for case in cases:
            inputs = []
            for i, t in enumerate(case.call.inputs):
                if isinstance(t, torch.Tensor):
                    inputs.append(put(t, **({"wanted": True} if case.wanted and case.wanted[i] else {})))
                else:
                    inputs.append(None if t is None else {"literal": written(t)})
            line = {"name": case.call.name, "inputs": inputs, "attributes": written(case.call.attributes)}
            if case.gradients:
                line["seeds"] = [None if s is None else put(s) for s in case.seeds]
            lines.write(json.dumps(line) + "\n")


def run_calls(runner, folder, count):
    """Runs all; a call that ends the runner is an answer too, and the next ones follow."""
    results = [None] * count
    first = 0
    while first < count:
        done = subprocess.run([runner, str(folder), str(first)], capture_output=True, text=True)
        for line in open(folder / "results.jsonl"):
            if line.endswith("\n"):
                result = json.loads(line)
                results[result["id"]] = result
        first = next((i for i in range(first, count) if results[i] is None), count)
        if first < count:
            text = f"the runner ended with status {done.returncode}: {done.stderr.strip()[-300:]}"
            results[first] = {"id": first, "error": {"kind": "crash", "text": text, "where": "forward"}}
            with open(folder / "results.jsonl", "a") as out:
                out.write(json.dumps(results[first]) + "\n")
            first += 1
    data = (folder / "results.bin").read_bytes()

    def get(entry):
        if entry is None:
            return None
        dtype = DTYPES[entry["dtype"]]
        if entry["bytes"] == 0:
            return torch.zeros(entry["shape"], dtype=dtype)
        content = bytearray(data[entry["at"]:entry["at"] + entry["bytes"]])
        return torch.frombuffer(content, dtype=dtype).reshape(entry["shape"])

    for result in results:
        for field in ("outputs", "gradients"):
            result[field] = [get(e) for e in result.get(field, [])]
    return results


class Report:
    def __init__(self):
        self.samples = self.equal = self.within = self.gradients = self.reference = 0
        self.meant, self.skipped, self.unexplained = collections.Counter(), collections.Counter(), []
        self.dtypes, self.names = set(), set()
        self.worst, self.worst_theirs = {}, {}  # error in ulp per dtype


def meant(case, where, error=None, ours=None, theirs=None, values=()):
    for m in case.spelling.meant:
        if (m.error is None) != (error is None) or (m.error is not None and not re.fullmatch(m.error, error)):
            continue
        if m.where is not None and m.where != where or m.where is None and where == "gradient":
            continue
        if m.ours is not None and m.ours != ours or m.theirs is not None and m.theirs != (theirs or case.dtype):
            continue
        if m.when is not None and not m.when(case, *values):
            continue
        return m.reason
    return None


def flat_equal(a, b, signed):
    if a.is_floating_point():
        same = (a == b) | (a.isnan() & b.isnan())
        return bool((same & ((a.signbit() == b.signbit()) | a.isnan() | (not signed))).all())
    return bool(torch.equal(a, b))


def judge(case, result, report):
    """Adds the case to the report: equal, within the bound, meant, or unexplained with what was seen."""
    bound = case.spelling.bound
    error = result.get("error")
    report.samples += 1
    report.dtypes.add(case.dtype)
    report.names.add(case.call.name)

    def complain(what):
        report.unexplained.append(f"{case.dtype} {describe(case.call)}: {what}")

    if result.get("reference") == "equal":
        report.reference += 1
    elif result.get("reference") and not (error and error["kind"] == "crash"):
        return complain(f"the reference device differs: {result['reference']}")
    if error:
        reason = meant(case, error["where"], error=error["kind"])
        if reason is None:
            return complain(f"{error['kind']} ({error['where']}): {error['text']}")
        report.meant[reason] += 1
        if error["where"] == "forward":
            return None
    if len(result["outputs"]) != len(case.theirs):
        return complain(f"{len(result['outputs'])} results for {len(case.theirs)}")
    equal, reasons = True, set()
    for n, (ours, theirs, truth) in enumerate(zip(result["outputs"], case.theirs, case.truth)):
        dtype = NAMES[ours.dtype]
        if ours.shape != theirs.shape:
            reason = meant(case, "shape", ours=dtype, theirs=NAMES[theirs.dtype], values=(ours, theirs))
            if reason is None:
                return complain(f"shape {list(ours.shape)} for {list(theirs.shape)}")
            reasons.add(reason)
            continue
        if ours.dtype != theirs.dtype:
            reason = meant(case, "dtype", ours=dtype, theirs=NAMES[theirs.dtype])
            if reason is None:
                return complain(f"{dtype} for {NAMES[theirs.dtype]}")
            reasons.add(reason)
        if flat_equal(ours, theirs.to(ours.dtype), bound.signed) and (bound.kind == "exact" or not ours.is_floating_point()):
            continue
        reason = None
        if bound.kind == "exact" or not ours.is_floating_point():
            problem = first_difference(ours, theirs)
        else:
            a, y = ours.to(torch.float64), truth.to(torch.float64)
            d, allowed = calls.distance(a, y, dtype), bound.allowed(y, dtype, case.call, None if case.absolute is None else case.absolute[n])
            size = calls.ulp(y, dtype)
            if d.numel():
                report.worst[dtype] = max(report.worst.get(dtype, 0.0), float((d / size).max()))
                if theirs.dtype == ours.dtype and dtype != "f64":
                    other = calls.distance(theirs.to(torch.float64), y, dtype) / size
                    report.worst_theirs[dtype] = max(report.worst_theirs.get(dtype, 0.0), float(other.max()))
            equal = equal and flat_equal(ours, theirs.to(ours.dtype), False)
            if bool(((d == 0) | (d <= allowed)).all()):
                continue
            i = int((d / allowed.clamp(min=1e-320)).reshape(-1).nan_to_num(posinf=1e300).argmax())
            at = lambda t: float(t.expand(d.shape).reshape(-1)[i])  # noqa: E731
            problem = (f"element {i}: {at(a)!r}, PyTorch {float(theirs.reshape(-1)[i])!r}, truth {at(y)!r}: "
                       f"off by {at(d):.3g} ({at(d / size):.3g} ulp), allowed {at(allowed):.3g}")
        reason = meant(case, "values", ours=dtype, theirs=NAMES[theirs.dtype], values=(ours, theirs, truth))
        if reason is None:
            return complain(problem)
        reasons.add(reason)
    for ours, theirs in zip(result["gradients"], case.gradients):
        if ours is None:
            ours = torch.zeros_like(theirs)
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return complain(f"gradient {NAMES[ours.dtype]}{list(ours.shape)} for {NAMES[theirs.dtype]}{list(theirs.shape)}")
        finite = theirs[theirs.isfinite()].abs()
        scale = float(finite.max()) if finite.numel() else 0.0
        d = calls.distance(ours, theirs, "f64")
        if bool(((d == 0) | (d <= case.spelling.gradient * max(scale, case.spelling.floor))).all()):
            continue
        reason = meant(case, "gradient", values=(ours, theirs))
        if reason is None:
            i = int(d.reshape(-1).nan_to_num(posinf=1e300).argmax())
            return complain(f"gradient element {i}: {float(ours.reshape(-1)[i])!r}, PyTorch {float(theirs.reshape(-1)[i])!r}, scale {scale:.3g}")
        reasons.add(reason)
    if case.gradients and not error:
        report.gradients += 1
    for reason in reasons:
        report.meant[reason] += 1
    if not reasons and not error:
        report.equal += equal
        report.within += not equal
    return None


def first_difference(ours, theirs):
    a, b = ours.reshape(-1), theirs.reshape(-1)
    different = [i for i in range(min(a.numel(), 100000)) if a[i].item() != b[i].item() or str(a[i].item()) != str(b[i].item())]
    different = [i for i in different if not (a[i].item() != a[i].item() and b[i].item() != b[i].item())]
    i = different[0] if different else 0
    return f"element {i} of {a.numel()}: {a[i].item()!r}, PyTorch {b[i].item()!r} ({len(different)} differ)"


def describe(call):
    def shown(v):
        if isinstance(v, torch.Tensor):
            values = f" = {v.reshape(-1).tolist()}" if 0 < v.numel() <= 6 else ""
            return f"{NAMES[v.dtype]}{list(v.shape)}{values}"
        return repr(v)
    return f"{call.name}({', '.join([shown(v) for v in call.inputs] + [f'{k}={v!r}' for k, v in call.attributes.items()])})"


def samples_of(op, spelling, dtype, limit):
    """At most `limit`, evenly spread, of the operation's samples; then, where edges count, of its reference inputs that are not large."""
    torch.manual_seed(4)
    found = list(op.sample_inputs("cpu", DTYPES[dtype]))
    if spelling.edges and dtype in ("f32", "f64"):
        more = [s for s in op.reference_inputs("cpu", DTYPES[dtype]) if sum(t.numel() for t in tensors_of((s.input, s.args))) <= 100000]
        return spread(found, limit) + spread(more[len(found):], limit)
    return spread(found, limit)


def spread(found, limit):
    return found if len(found) <= limit else [found[i * len(found) // limit] for i in range(limit)]


def collect(options, known):
    cases, reports, absent = [], {}, []
    for op in op_db:
        title = op.name + (f" [{op.variant_test_name}]" if op.variant_test_name else "")
        spelling = calls.find(op.name, op.variant_test_name)
        if spelling is None or (options.ops and not re.search(options.ops, title)):
            continue
        report = Report()
        generator = torch.Generator().manual_seed(4)
        unknown = set()
        for dtype in KINDS:
            if DTYPES[dtype] not in op.dtypes or (options.dtypes and dtype not in options.dtypes.split(",")):
                continue
            if spelling.dtypes and dtype not in spelling.dtypes:
                continue
            for sample in samples_of(op, spelling, dtype, options.limit):
                try:
                    case = Case(op, spelling, dtype, sample, generator)
                except Skip as reason:
                    report.skipped[str(reason)] += 1
                    continue
                except Exception as problem:  # a spelling that does not understand the sample is a fault of the tables
                    report.samples += 1
                    report.unexplained.append(f"{dtype}: the spelling failed: {type(problem).__name__}: {problem}")
                    continue
                missing = {case.call.name, case.call.attributes.get("then", case.call.name)} - known
                if missing:
                    unknown |= missing
                    continue
                case.report = report
                cases.append(case)
        if unknown:
            absent.append(f"{title}: {', '.join(sorted(unknown))}")
        reports[title] = report
    return cases, reports, absent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("--ops", help="a regular expression on OpInfo's names")
    parser.add_argument("--dtypes", help="f32,f64,…")
    parser.add_argument("--limit", type=int, default=40, help="samples per operation and dtype")
    parser.add_argument("--json", help="write the table as JSON too")
    parser.add_argument("--cases", action="store_true", help="print every unexplained case, not only the first three of an operation")
    parser.add_argument("--keep", help="keep the calls and results in this folder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    known = set(subprocess.run([options.runner, "--list"], capture_output=True, text=True, check=True).stdout.split())
    cases, reports, absent = collect(options, known)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(exist_ok=True, parents=True)
        write_calls(folder, cases)
        for case, result in zip(cases, run_calls(options.runner, folder, len(cases))):
            judge(case, result, case.report)
    return show(options, reports, absent)


def show(options, reports, absent):
    print(f"PyTorch {torch.__version__}, op_db")
    print(f"{'operation':44} {'samples':>7} {'equal':>6} {'within':>6} {'meant':>6} {'skipped':>7} {'grads':>6} {'worst f32 ulp (PyTorch)':>24} unexplained")
    total = collections.Counter()
    operations = set()
    for title, r in reports.items():
        if r.samples:
            operations.add(title.split(" [")[0])
            worst = f"{r.worst['f32']:.3g} ({r.worst_theirs.get('f32', 0):.3g})" if "f32" in r.worst else ""
            print(f"{title:44} {r.samples:7} {r.equal:6} {r.within:6} {sum(r.meant.values()):6} {sum(r.skipped.values()):7} {r.gradients:6} {worst:>24} "
                  f"{len(r.unexplained)}")
        for line in r.unexplained if options.cases else r.unexplained[:3]:
            print(f"    UNEXPLAINED {line}")
        total.update(samples=r.samples, equal=r.equal, within=r.within, meant=sum(r.meant.values()), skipped=sum(r.skipped.values()),
                     gradients=r.gradients, reference=r.reference, unexplained=len(r.unexplained))
    for what in ("meant", "skipped"):
        gathered = collections.defaultdict(collections.Counter)
        for title, r in reports.items():
            for reason, n in getattr(r, what).items():
                gathered[reason][title] += n
        print(f"\n{'Differences that are meant' if what == 'meant' else 'Samples that say nothing about Votive'}:")
        for reason, where in sorted(gathered.items(), key=lambda entry: -sum(entry[1].values())):
            print(f"  {sum(where.values()):6}  {reason}: {', '.join(list(where)[:8])}{' …' if len(where) > 8 else ''}")
    if absent:
        print("\nSpelled but not in the runner:\n  " + "\n  ".join(absent))
    print(f"\n{len(operations)} operations ({sum(1 for r in reports.values() if r.samples)} with variants), {dict(total)}")
    if options.json:
        table = {title: {"samples": r.samples, "equal": r.equal, "within": r.within, "gradients": r.gradients, "meant": dict(r.meant),
                         "skipped": dict(r.skipped), "dtypes": sorted(r.dtypes), "votive": sorted(r.names), "worst_ulp": r.worst,
                         "worst_ulp_pytorch": r.worst_theirs, "unexplained": r.unexplained} for title, r in reports.items() if r.samples}
        pathlib.Path(options.json).write_text(json.dumps({"torch": torch.__version__, "total": dict(total), "operations": table}, indent=1) + "\n")
    return 1 if total["unexplained"] else 0


if __name__ == "__main__":
    sys.exit(main())
