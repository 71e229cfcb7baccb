#!/usr/bin/env python3
"""Do the tests bite? Applies mutations, one at a time, to a copy of the tree, builds what they touch, and expects a test to turn red (CONTRACT.md 11.5).

A mutation is data (mutations/*.toml): a file, a text that stands in it exactly once, what to write instead, the test program to build and the tests of it
that are expected to notice. These are tests of the suite, built from the same sources: what is red here is red in `./dev test`.

  red      the build works and one of the named tests fails, or the program is ended by a signal
  GREEN    all named tests pass: a test is missing
  STALE    the text is not there, or more than once
  BROKEN   the mutated tree does not build, or the named tests are not there: nothing was shown

The copy is build/mutate/tree, its build build/mutate/build (preset `mutate`); both are kept, so that a second run builds only what has changed.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import tree  # noqa: E402

LISTS = HERE / "mutations"
FIELDS = {"name", "section", "file", "old", "new", "program", "tests"}
TIME_LIMIT = 300  # seconds that the named tests of one program may take: a mutation may keep a loop from ending

Mutation = collections.namedtuple("Mutation", "name section floor changes program tests note")
Change = collections.namedtuple("Change", "file old new")
Outcome = collections.namedtuple("Outcome", "verdict by seconds")


# ---- the list ----

def read_mutations(folder=LISTS):
    """Every [[mutation]] of every file, in order. `also` holds further changes of the same mutation."""
    mutations = []
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]:
            missing, unknown = FIELDS - entry.keys(), entry.keys() - FIELDS - {"note", "also"}
            if missing or unknown:
                raise SystemExit(f"{path.name}: {entry.get('name')}: missing {sorted(missing)}, unknown {sorted(unknown)}")
            changes = [Change(c.get("file", entry["file"]), c["old"], c["new"]) for c in [entry, *entry.get("also", [])]]
            mutations.append(Mutation(entry["name"], entry["section"], path.stem, changes, entry["program"], entry["tests"], entry.get("note", "")))
    doubled = [n for n, count in collections.Counter(m.name for m in mutations).items() if count > 1]
    if doubled:
        raise SystemExit(f"names given twice: {', '.join(doubled)}")
    return mutations


def apply_to(root, mutation):
    """Writes the changes; gives {path: text before}, or None where a text does not stand there exactly once. Nothing is written then."""
    before, after = {}, {}
    for change in mutation.changes:
        path = root / change.file
        if path not in before:
            if not path.is_file():
                return None
            before[path] = after[path] = path.read_text(encoding="utf-8")
        if change.old == change.new or after[path].count(change.old) != 1:
            return None
        after[path] = after[path].replace(change.old, change.new)
    for path, text in after.items():
        path.write_text(text, encoding="utf-8")
    return before


# ---- the copy and its build ----

def synchronise(root, copy):
    """Makes `copy` equal to what git tracks or would track; files that are equal already keep their times, so nothing is built without need."""
    names = set(tree.files(root=root))
    for name in names:
        source, place = root / name, copy / name
        if place.is_file() and place.stat().st_size == source.stat().st_size and place.read_bytes() == source.read_bytes():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
        shutil.copymode(source, place)
    for path in list(copy.rglob("*")):
        if path.is_file() and path.relative_to(copy).as_posix() not in names and "__pycache__" not in path.parts:
            path.unlink()


class Ninja:
    """Builds programs of the copy and runs tests of them."""

    def __init__(self, copy, build, jobs):
        self.copy, self.build_folder, self.jobs = copy, build, jobs
        self.log = build.parent / "build.log"

    def configure(self):
        self.build_folder.mkdir(parents=True, exist_ok=True)
        return self._logged(["cmake", "--preset", "mutate", "-S", self.copy, "-B", self.build_folder])

    def build(self, programs):
        """'' or the last lines of what went wrong."""
        return self._logged(["ninja", "-C", self.build_folder, "-j", str(self.jobs), *sorted(programs)])

    def _logged(self, command):
        with open(self.log, "w", encoding="utf-8") as log:
            code = subprocess.run(command, cwd=self.copy, stdout=log, stderr=subprocess.STDOUT).returncode
        if code == 0:
            return ""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
        return "\n".join((errors or lines)[-4:])

    def command(self, program, tests):
        found = [p for p in self.build_folder.glob(f"tests/*/{program}") if p.is_file()] + \
                [p for p in self.build_folder.glob(f"tests/{program}") if p.is_file()]
        if len(found) != 1:
            return None
        return [str(found[0]), f"--gtest_filter={':'.join(tests)}", "--gtest_color=no"]

    def run(self, program, tests):
        """(how many tests passed, names of those that failed). A signal or no end is a failure of the test that was running."""
        command = self.command(program, tests)
        if command is None:
            return 0, []
        try:
            answer = subprocess.run(command, cwd=self.copy, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT)
            output, code = answer.stdout, answer.returncode
        except subprocess.TimeoutExpired as expired:
            output, code = (expired.stdout or b"").decode(errors="replace"), None
        return read_results(output, code)


def read_results(output, code):
    """What GoogleTest printed. `code` is None where the program did not end in time, negative where a signal ended it."""
    passed = len(re.findall(r"^\[       OK \] ", output, re.MULTILINE))
    failed = list(dict.fromkeys(re.findall(r"^\[  FAILED  \] ([^\s,]+)(?:,.*)? \(\d+ ms\)$", output, re.MULTILINE)))
    if code is None or code < 0:
        started = re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE)
        how = f"did not end in {TIME_LIMIT} s" if code is None else f"ended by {signal.Signals(-code).name}"
        failed.append(f"{started[-1] if started else 'before any test'} ({how})")
    return passed, failed


# ---- one mutation ----

def folder_of(program):
    """test_ops_literal → ops: the tests of ./dev test carry the folder before their names."""
    return program.split("_")[1]


def shown(program, failed):
    names = [f"{folder_of(program)}.{name}" for name in failed]
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def judge(builder, root, mutation):
    start = time.monotonic()
    before = apply_to(root, mutation)
    if before is None:
        return Outcome("STALE", "a text does not stand there exactly once", 0.0)
    try:
        wrong = builder.build([mutation.program])
        if wrong:
            return Outcome("BROKEN", wrong, time.monotonic() - start)
        passed, failed = builder.run(mutation.program, mutation.tests)
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")
    spent = time.monotonic() - start
    if failed:
        return Outcome("red", shown(mutation.program, failed), spent)
    if passed == 0:
        return Outcome("BROKEN", "no test of that name ran", spent)
    return Outcome("GREEN", f"{passed} passed: {' '.join(mutation.tests)}", spent)


def unmutated(builder, mutations):
    """The tests that are expected to turn red are green without a mutation, else their failing would show nothing."""
    wrong = builder.build({m.program for m in mutations})
    if wrong:
        return [f"the tree does not build:\n{wrong}"]
    complaints = []
    for program in dict.fromkeys(m.program for m in mutations):
        for tests in dict.fromkeys(tuple(m.tests) for m in mutations if m.program == program):
            passed, failed = builder.run(program, tests)
            if failed or passed == 0:
                complaints.append(f"{program}: {shown(program, failed) + ' fails' if failed else 'no test'} without a mutation: {' '.join(tests)}")
    return complaints


def mutate(builder, root, mutations, say=print):
    """Judges all; gives {name: outcome}."""
    start = time.monotonic()
    complaints = unmutated(builder, mutations)
    if complaints:
        say("\n".join(complaints))
        return None
    say(f"  the unmutated copy is built and its {len({(m.program, tuple(m.tests)) for m in mutations})} sets of tests are green: {time.monotonic() - start:.0f} s")
    outcomes = {}
    for i, mutation in enumerate(mutations, 1):
        outcome = outcomes[mutation.name] = judge(builder, root, mutation)
        say(f"  [{i}/{len(mutations)}] {mutation.name}: {outcome.verdict}{' by' if outcome.verdict == 'red' else ':'} {outcome.by}  {outcome.seconds:.0f} s")
    return outcomes


def table(mutations, outcomes):
    width = max(len(m.name) for m in mutations)
    where = max(len(m.section) for m in mutations)
    lines = []
    for m in mutations:
        o = outcomes[m.name]
        lines.append(f"  {m.name:<{width}}  {m.section:<{where}}  {o.seconds:4.0f} s  {o.verdict:<6}  {o.by.splitlines()[0]}")
    return "\n".join(lines)


def summary(outcomes, seconds):
    counts = collections.Counter(o.verdict for o in outcomes.values())
    bad = ", ".join(f"{counts[v]} {v}" for v in ("GREEN", "STALE", "BROKEN") if counts[v])
    return f"{counts['red']} of {len(outcomes)} mutations red" + (f", {bad}" if bad else "") + f", in {seconds / 60:.0f} min"


# ---- the command ----

def stale(mutations, root):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        found = []
        for mutation in mutations:
            for change in mutation.changes:
                (copy / change.file).parent.mkdir(parents=True, exist_ok=True)
                if (root / change.file).is_file():
                    shutil.copyfile(root / change.file, copy / change.file)
            if apply_to(copy, mutation) is None:
                found.append(f"{mutation.changes[0].file}: mutation '{mutation.name}' is stale: a text of it does not stand there exactly once")
        return found


def choose(mutations, wanted):
    """By name, by section (11.5) or by the list's name; all where nothing is asked for."""
    chosen = [m for m in mutations if not wanted or any(w in (m.name, m.section.split()[0], m.floor) for w in wanted)]
    for w in wanted:
        if not any(w in (m.name, m.section.split()[0], m.floor) for m in mutations):
            raise SystemExit(f"no mutation, section or list '{w}'; ./dev mutate --list names them")
    return chosen


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*", help="mutations, sections or lists; all if none")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--list", action="store_true", help="name them all and end")
    arguments.add_argument("--check", action="store_true", help="only see that every text stands where it should")
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    if options.self_test:
        import self_test
        self_test.run()
        return 0
    mutations = choose(read_mutations(), options.names)
    if options.list:
        print("\n".join(f"{m.floor}  {m.name}  ({m.section})  {m.changes[0].file}" for m in mutations))
        return 0
    if options.check:
        found = stale(mutations, tree.ROOT)
        print("\n".join(found) if found else f"  {len(mutations)} mutations, each finds its text")
        return 1 if found else 0

    start = time.monotonic()
    place = tree.ROOT / "build" / "mutate"
    copy = place / "tree"
    synchronise(tree.ROOT, copy)
    builder = Ninja(copy, place / "build", options.jobs)
    wrong = builder.configure()
    if wrong:
        print(wrong, file=sys.stderr)
        return 1
    outcomes = mutate(builder, copy, mutations, say=lambda text: print(text, flush=True))
    if outcomes is None:
        return 1
    print()
    print(table(mutations, outcomes))
    print()
    print(summary(outcomes, time.monotonic() - start))
    return 0 if all(o.verdict == "red" for o in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
