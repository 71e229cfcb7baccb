"""What ./dev mutate says, on a tree of two Python files that takes no compiler: each verdict once, and that everything is put back."""

import pathlib
import tempfile

import mutate
import tree

LIST = """
[[mutation]]
name = "caught"
section = "1 sums"
file = "sum.py"
old = "a + b"
new = "a - b"
program = "test_sum_add"
tests = ["adds"]

[[mutation]]
name = "missed"
section = "1 sums"
file = "sum.py"
old = "return a * b"
new = "return a * b + 0"
program = "test_sum_add"
tests = ["adds"]

[[mutation]]
name = "gone"
section = "2 others"
file = "sum.py"
old = "a / b"
new = "b / a"
program = "test_sum_add"
tests = ["adds"]

[[mutation]]
name = "twice"
section = "2 others"
file = "sum.py"
old = "return"
new = "yield"
program = "test_sum_add"
tests = ["adds"]

[[mutation]]
name = "broken"
section = "2 others"
file = "sum.py"
old = "a + b"
new = "a + + ("
program = "test_sum_add"
tests = ["adds"]

[[mutation]]
name = "endless"
section = "2 others"
file = "sum.py"
old = "a + b"
new = "STOP"
also = [{ file = "other.py", old = "unused = 1", new = "unused = 2" }]
program = "test_sum_add"
tests = ["adds"]
"""

CRASH = """[ RUN      ] Sum.Adds
[       OK ] Sum.Adds (0 ms)
[ RUN      ] Sum.Divides
"""
FAILS = """[ RUN      ] A/Sum.Adds/3
sum_test.cpp:7: Failure
[  FAILED  ] A/Sum.Adds/3, where GetParam() = 4 (12 ms)
[ RUN      ] Sum.Divides
[       OK ] Sum.Divides (0 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A/Sum.Adds/3, where GetParam() = 4
"""


class Interpreted:
    """Stands for the compiler and the test program."""

    def __init__(self, root):
        self.root, self.space = root, {}

    def build(self, _programs):
        try:
            self.space = {"STOP": None}
            exec(compile((self.root / "sum.py").read_text(), "sum.py", "exec"), self.space)
        except SyntaxError as error:
            return f"error: {error}"
        return ""

    def run(self, _program, tests):
        if tuple(tests) != ("adds",):
            return 0, []
        return (1, []) if self.space["add"](2, 3) == 5 else (0, ["Sum.adds"])


def run():
    with tempfile.TemporaryDirectory() as folder:
        root, copy, lists = (pathlib.Path(folder) / name for name in ("root", "copy", "lists"))
        for path in (root, copy, lists):
            path.mkdir()
        (root / "sum.py").write_text("def add(a, b):\n    return a + b\ndef mul(a, b):\n    return a * b\n")
        (root / "other.py").write_text("unused = 1\n")
        (lists / "sums.toml").write_text(LIST)
        (copy / "left over.py").write_text("")
        mutate.synchronise(root, copy)
        assert tree.files(root=copy) == ["other.py", "sum.py"], tree.files(root=copy)
        before = {name: (copy / name).stat().st_mtime_ns for name in tree.files(root=copy)}
        mutate.synchronise(root, copy)
        assert before == {name: (copy / name).stat().st_mtime_ns for name in before}, "an equal file was written"

        mutations = mutate.read_mutations(lists)
        said = []
        outcomes = mutate.mutate(Interpreted(copy), copy, mutations, said.append)
        verdicts = {name: o.verdict for name, o in outcomes.items()}
        assert verdicts == {"caught": "red", "missed": "GREEN", "gone": "STALE", "twice": "STALE", "broken": "BROKEN", "endless": "red"}, verdicts
        assert outcomes["caught"].by == "sum.Sum.adds", outcomes["caught"]
        assert all((copy / name).read_text() == (root / name).read_text() for name in before), "a mutation was left in the tree"
        assert "2 of 6 mutations red, 1 GREEN, 2 STALE, 1 BROKEN" in mutate.summary(outcomes, 60), mutate.summary(outcomes, 60)
        assert "red by sum.Sum.adds" in "\n".join(said) and "missed" in mutate.table(mutations, outcomes)
        assert len(mutate.stale(mutations, root)) == 2
        assert [m.name for m in mutate.choose(mutations, ["1"])] == ["caught", "missed"]

        # a test that is red without a mutation shows nothing
        (copy / "sum.py").write_text((copy / "sum.py").read_text().replace("a + b", "a"))
        assert mutate.mutate(Interpreted(copy), copy, mutations[:1], said.append) is None
        assert "without a mutation" in said[-1]
        # nor does one that is not there
        assert "no test" in mutate.unmutated(Interpreted(copy), [mutations[0]._replace(tests=["subtracts"])])[0]

    assert mutate.read_results(FAILS, 1) == (1, ["A/Sum.Adds/3"]), mutate.read_results(FAILS, 1)
    assert mutate.read_results(CRASH, -8) == (1, ["Sum.Divides (ended by SIGFPE)"]), mutate.read_results(CRASH, -8)
    assert mutate.read_results(CRASH, None)[1] == [f"Sum.Divides (did not end in {mutate.TIME_LIMIT} s)"]
    print("mutate: red, green, stale and broken told apart, the tree put back")
