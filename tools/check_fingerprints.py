#!/usr/bin/env python3
"""Every public function has a fingerprint in apps/votive/golden_fingerprints.cpp, so that `votive verify` speaks of it; its name is the first word there."""

import pathlib
import re
import sys
import tempfile

import ops_headers

GOLDEN = "apps/votive/golden_fingerprints.cpp"
# function → why it has no bits of its own
WITHOUT = {
    "empty": "its elements are any",
    "empty_like": "its elements are any",
    "to_string": "gives text; tests/ops has it",
}


def functions(root):
    return [name for header in ops_headers.read(root) for name in header.names()]


def fingerprinted(root):
    return {name.split()[0] for name in re.findall(r'^\s*\{"([^"]+)", 0x', (root / GOLDEN).read_text(), re.M)}


def missing(names, known):
    found = [f"{name}: no fingerprint; give it a line in apps/votive/fingerprints_*.cpp and write the golden file anew" for name in dict.fromkeys(names)
             if name not in known and name not in WITHOUT]
    return found + [f"{name}: is said to have no fingerprint, and has one" for name in WITHOUT if name in known]


def self_test():
    assert missing(["exp", "empty"], {"exp"}) == []
    assert len(missing(["exp", "new"], {"exp"})) == 1 and "new" in missing(["exp", "new"], {"exp"})[0]
    assert len(missing(["exp"], {"exp", "to_string"})) == 1
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / GOLDEN).parent.mkdir(parents=True)
        (root / GOLDEN).write_text('    {"exp f32", 0x01u},\n    {"cast u8 to f32", 0x02u},\n')
        assert fingerprinted(root) == {"exp", "cast"}


def main():
    if "--self-test" in sys.argv:
        self_test()
        return 0
    root = pathlib.Path(__file__).resolve().parents[1]
    names = functions(root)
    found = missing(names, fingerprinted(root))
    for line in found:
        print(line)
    if not found:
        print(f"{len(set(names)) - len(WITHOUT)} public functions, each with a fingerprint")
    return 1 if found or len(names) < 300 else 0


sys.exit(main())
