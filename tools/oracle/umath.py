#!/usr/bin/env python3
"""Writes tests/golden/numpy/umath.bin: numpy's validation sets of elementary functions, which its wheel carries, in one small file.

    python3 -m venv V && V/bin/pip install numpy==2.4.6 && V/bin/python tools/oracle/umath.py

A row of numpy's files is a dtype, an input, the output "computed using a high(er) precision library and then rounded", and numpy's own tolerance in ulp.
Nothing is computed here: bits are taken over as they stand.
"""

import pathlib
import struct

import numpy

WHERE = pathlib.Path(numpy.__file__).parent / "_core" / "tests" / "data"
INTO = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "numpy"
FORMATS = {"np.float32": ("f32", "<II"), "np.float64": ("f64", "<QQ")}


def main():
    sets = {}
    for path in sorted(WHERE.glob("umath-validation-set-*.csv")):
        name = path.stem.rsplit("-", 1)[1]
        for line in path.read_text().splitlines():
            if not line.startswith("np."):
                continue
            dtype, x, y, ulp = line.split(",")
            rows, ulps = sets.setdefault((name, dtype), ([], []))
            rows.append((int(x, 16), int(y, 16)))
            ulps.append(int(ulp))
    header = [f"# numpy {numpy.__version__}: function, dtype, rows, numpy's tolerance in ulp; after the empty line (input, output) of every row, little-endian"]
    data = b""
    for (name, dtype), (rows, ulps) in sets.items():
        short, layout = FORMATS[dtype]
        header.append(f"{name} {short} {len(rows)} {max(ulps)}")
        data += b"".join(struct.pack(layout, *row) for row in rows)
    INTO.mkdir(parents=True, exist_ok=True)
    (INTO / "umath.bin").write_bytes(("\n".join(header) + "\n\n").encode() + data)
    licence = next(pathlib.Path(numpy.__file__).parents[1].glob(f"numpy-{numpy.__version__}.dist-info/licenses/LICENSE.txt"))
    text = licence.read_text()
    (INTO / "LICENSE.txt").write_text(text[: text.index("OF THIS SOFTWARE, EVEN IF ADVISED") + len("OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.")] + "\n")
    print(sum(len(rows) for rows, _ in sets.values()), "rows,", len(sets), "sets")


main()
