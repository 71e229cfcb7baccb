#!/usr/bin/env python3
"""The README's program is a program: this writes it to a file, or runs the compiled one and compares what it prints with what the README says.

  readme_program.py extract README.md INTO.cpp
  readme_program.py compare README.md PROGRAM
"""

import pathlib
import re
import subprocess
import sys


def block(text, language):
    found = re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    if not found:
        sys.exit(f"README.md has no ```{language} block")
    return found[1]


def main():
    verb, readme, other = sys.argv[1:]
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    if verb == "extract":
        pathlib.Path(other).write_text("// Taken from README.md by tools/readme_program.py.\n" + block(text, "cpp"), encoding="utf-8")
        return 0
    said = subprocess.run([other], capture_output=True, text=True)
    promised = block(text, "text")
    if said.returncode or said.stdout.strip() != promised.strip():
        print(f"the README promises:\n{promised}\nthe program says (exit code {said.returncode}):\n{said.stdout}{said.stderr}")
        return 1
    print(said.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
