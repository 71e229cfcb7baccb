"""Which files the checks look at: what git tracks or would track, so that build folders and editors' leavings are never judged."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def files(*folders, suffixes=None, root=ROOT):
    """Paths relative to root, sorted; suffixes such as (".h", ".cpp")."""
    if (root / ".git").exists():
        answer = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True)
        names = answer.stdout.decode().split("\0")
    else:
        names = [p.relative_to(root).as_posix() for p in root.rglob("*") if "build" not in p.relative_to(root).parts[:1]]
    chosen = {n for n in names if n and (not folders or n.split("/")[0] in folders) and (suffixes is None or pathlib.Path(n).suffix in suffixes)}
    return sorted(n for n in chosen if (root / n).is_file())
