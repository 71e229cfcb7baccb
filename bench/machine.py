"""The machine in words, as it stands beside every figure."""
import os
import pathlib
import platform


def machine():
    words = {}
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            words.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    flags = set(words.get("flags", words.get("Features", "")).split())
    known = [f for f in ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8", "asimddp", "i8mm", "sve") if f in flags]
    family = f", family {words['cpu family']} model {words['model']}" if "cpu family" in words else ""
    chosen = f", VOTIVE_ISA={os.environ['VOTIVE_ISA']}" if os.environ.get("VOTIVE_ISA") else ""
    return f"{words.get('model name', platform.machine())}{family}, {len(os.sched_getaffinity(0))} cores, {' '.join(known)}{chosen}"
