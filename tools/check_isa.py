#!/usr/bin/env python3
"""Nothing that every machine runs may hold an instruction that only some have.

A kernel file is compiled once per instruction set. What it defines in its own namespace (votive::cpu::v4::…) is chosen at start-up; but an inline function
or template that several objects define is one function to the linker, which keeps the first. Were that one compiled for AVX-512, every caller would
get it, on every machine. So, with the object files of a build folder:
  1. a weak function of an object compiled for v3, v4, … is in that set's own namespace, or the baseline's objects define it too;
  2. the baseline's objects stand before the others in the archive, so that theirs is kept;
  3. in a linked program no weak or global function outside those namespaces holds an AVX instruction (seen with objdump).
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

KERNELS = re.compile(r"votive_cpu_(?P<isa>\w+)\.dir/")
BASELINE = "baseline"
# A register or an instruction that x86-64 as of 2003 lacks. (tzcnt is not listed: it runs there too, as bsf.)
FUSED_PAIR = re.compile(r"\bvfm(addsub|subadd)")
WIDE = re.compile(r"%[yz]mm\d|%k[0-7]\b|\bv[a-z0-9]+\s.*%xmm\d|\t(andn|bextr|bls\w+|pdep|pext|mulx|rorx|sarx|shlx|shrx|lzcnt|popcnt|movbe)\b")


def symbols(objects):
    """object → [(kind, mangled name)]"""
    answer = {}
    for start in range(0, len(objects), 200):
        text = subprocess.run(["nm", "-A", "-P", "--defined-only", *map(str, objects[start:start + 200])], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            place, rest = line.split(": ", 1)
            name, kind = rest.split()[:2]
            answer.setdefault(place, []).append((kind, name))
    return answer


def in_namespace_of(name, isa):
    """Mangled names hold each part with its length: 2v4, 10v4emulated."""
    return re.search(rf"(?<!\d){len(isa)}{isa}", name) is not None


def demangled(names):
    return dict(zip(names, subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout.splitlines()))


def leaks(objects_of_isa, objects_of_baseline):
    """Weak functions of the instruction sets' objects that only they define: [(object, name)]. Weak data is the same whoever compiled it."""
    everywhere = {name for defined in symbols(objects_of_baseline).values() for kind, name in defined}
    found = []
    for isa, objects in objects_of_isa.items():
        for place, defined in symbols(objects).items():
            found += [(place, name) for kind, name in defined if kind in "Ww" and name not in everywhere and not in_namespace_of(name, isa)]
    return found


def library_objects(build_ninja):
    """The object files that libvotive is made of, in their order."""
    rule = re.search(r"^build [^\n:]*libvotive\.(?:a|so)[^\n:]*: \S+_LINKER\S* ([^|\n]*)", build_ninja, re.M)
    return [item for item in rule[1].split() if item.endswith(".o")] if rule else []


def out_of_order(objects):
    """The first object of another instruction set that stands before one of the baseline."""
    wide = None
    for item in objects:
        kernel = KERNELS.search(item)
        if kernel and kernel["isa"] != BASELINE:
            wide = wide or item
        elif kernel and wide:
            return f"{wide} stands before {item} in libvotive"
    return None


def wide_functions(program, isas):
    """Functions of a linked program that every machine may run and that touch what not every machine has."""
    shared = {}
    for line in subprocess.run(["nm", "-P", "--defined-only", program], check=True, capture_output=True, text=True).stdout.splitlines():
        name, kind, address = line.split()[:3]
        if kind in "WwTu":
            shared.setdefault(int(address, 16), name)
    found, current = [], None
    text = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, text=True)
    for line in text.stdout:
        head = re.match(r"([0-9a-f]{8,}) <(\S+)>:", line)
        if head:
            name = shared.get(int(head[1], 16))
            current = name if name and not any(in_namespace_of(name, isa) for isa in isas) else None
        elif current and WIDE.search(line):
            found.append((current, line.split("\t", 1)[-1].strip()))
            current = None
    text.wait()
    return found


def fused_pairs(objects):
    """Objects where the compiler made one rounding of two: g++ 12 joins a·c − b·s beside a·s + b·c into vfmaddsub although contraction is off."""
    found = []
    for item in objects:
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", item], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            if FUSED_PAIR.search(line):
                found.append((item, line.split("\t", 1)[-1].strip()))
                break
    return found


def check(folder):
    objects = library_objects((folder / "build.ninja").read_text())
    objects_of_isa, objects_of_baseline = {}, []
    for item in objects:
        kernel = KERNELS.search(item)
        if kernel and kernel["isa"] != BASELINE:
            objects_of_isa.setdefault(kernel["isa"], []).append(folder / item)
        elif kernel:
            objects_of_baseline.append(folder / item)
    if not all((folder / item).exists() for item in objects) or not objects:
        return [f"{folder}: no object files; build first"], ""
    if not objects_of_isa:
        return [], "no kernel is compiled for an instruction set of its own here"
    found = []
    hidden = leaks(objects_of_isa, objects_of_baseline)
    names = demangled([name for _, name in hidden])
    found += [f"{pathlib.Path(place).relative_to(folder)}:1: only this set's objects define {names[name][:160]}" for place, name in hidden]
    fused = fused_pairs([item for items in objects_of_isa.values() for item in items] + objects_of_baseline)
    found += [f"{pathlib.Path(item).relative_to(folder)}:1: two roundings became one: {instruction}; compute the two in loops of their own" for item, instruction in fused]
    wrong = out_of_order(objects)
    if wrong:
        found.append(f"votive/CMakeLists.txt:1: {wrong}")
    programs = [p for p in (folder / "bin/votive", *sorted(folder.glob("tests/test_*"))) if p.is_file() and p.suffix == ""]
    program = max(programs, key=lambda p: p.stat().st_size, default=None)
    if program and not found:
        wide = wide_functions(program, objects_of_isa)
        names = demangled([name for name, _ in wide])
        found += [f"{program.relative_to(folder)}:1: {names[name][:160]} is for every machine, but holds: {instruction}" for name, instruction in wide]
    said = f"{sum(map(len, objects_of_isa.values()))} objects of {', '.join(sorted(objects_of_isa))}: what is weak in them is theirs alone, or the baseline's too"
    return found, said + (f"; {program.name} holds no wide instruction outside them" if program else "")


def self_test():
    if not (shutil.which("g++") and subprocess.run(["g++", "-dumpmachine"], capture_output=True, text=True).stdout.startswith("x86_64")):
        print("check_isa: not an x86-64 compiler; nothing to show here")
        return
    kernel = """
      template <class T> __attribute__((noinline)) T leak(T x) { return x * x + T(1); }
      namespace votive::cpu::ISA {
      template <class T> __attribute__((noinline)) T own(T x) { return x * x + T(2); }
      double run(double x) { return own(x)%s; }
      }
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def compiled(isa, text, flags):
            place = folder / f"votive/CMakeFiles/votive_cpu_{isa}.dir"
            place.mkdir(parents=True, exist_ok=True)
            subprocess.run(["g++", "-O2", f"-DISA={isa}", *flags, "-x", "c++", "-c", "-", "-o", place / "a.o"], input=text, text=True, check=True)
            return place / "a.o"

        baseline = compiled("baseline", kernel % "", ["-march=x86-64"])
        good = compiled("v3", kernel % "", ["-march=x86-64-v3"])
        assert leaks({"v3": [good]}, [baseline]) == []
        bad = compiled("v4", kernel % " + leak(x)", ["-march=x86-64-v4"])
        found = leaks({"v3": [good], "v4": [bad]}, [baseline])
        assert len(found) == 1 and "leak" in found[0][1], found

        turn = """void turn(const double* __restrict x, double* __restrict y, const double* __restrict c, const double* __restrict s, long n) {
          for (long i = 0; i < n; ++i) {
            const double a = x[2 * i], b = x[2 * i + 1];
            y[2 * i] = a * c[i] - b * s[i];
            y[2 * i + 1] = a * s[i] + b * c[i];
          }
        }"""
        turned = compiled("v3", turn, ["-O3", "-march=x86-64-v3", "-ffp-contract=off"])
        major = int(subprocess.run(["g++", "-dumpversion"], capture_output=True, text=True).stdout.split(".")[0])
        assert len(fused_pairs([turned])) == 1 or major != 12, "g++ 12 fuses this pair"
        assert fused_pairs([baseline]) == []

        main = folder / "main.cpp"
        main.write_text("namespace votive::cpu::v4 { double run(double); }\nint main() { return int(votive::cpu::v4::run(2)); }\n")
        subprocess.run(["g++", "-O2", main, bad, "-o", folder / "program"], check=True)
        wide = wide_functions(str(folder / "program"), ["v3", "v4"])
        assert len(wide) == 1 and "leak" in wide[0][0], wide

    line = "build votive/libvotive.a: CXX_STATIC_LIBRARY_LINKER__votive_Release {} | x\n"
    one, two = "votive/CMakeFiles/votive_cpu_baseline.dir/a.o", "votive/CMakeFiles/votive_cpu_v4.dir/a.o"
    assert library_objects(line.format(f"{one} {two}")) == [one, two]
    assert out_of_order([one, two]) is None
    assert two in out_of_order([two, one])
    assert in_namespace_of("_ZN6votive3cpu2v43runEv", "v4") and not in_namespace_of("_ZN6votive3cpu10v4emulated3runEv", "v4")
    print("check_isa: a leaking template, a wrong order and a wide instruction named, good ones passed")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", nargs="?", default="build/release")
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    if options.self_test:
        self_test()
        return 0
    found, said = check(pathlib.Path(options.folder))
    print("\n".join(found) if found else f"  {said}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
