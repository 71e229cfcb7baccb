#!/usr/bin/env python3
"""Writes tests/golden/files: one safetensors file by the library `safetensors`, one GGUF file by llama.cpp's `gguf`, each with every dtype that
Votive has and that the format knows. tests/io compares their values with what this script says they are.

    python3 -m venv V && V/bin/pip install numpy safetensors gguf && V/bin/python tools/oracle/files.py
"""

import json
import pathlib

import gguf
import numpy as np
from safetensors import TensorSpec, serialize

HERE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "files"

INTEGERS = {
    "u8": [0, 1, 127, 128, 200, 255],
    "i8": [0, 1, -1, 127, -127, -128],
    "u16": [0, 1, 255, 256, 32768, 65535],
    "i16": [0, 1, -1, 300, 32767, -32768],
    "u32": [0, 1, 65536, 2**31 - 1, 2**31, 2**32 - 1],
    "i32": [0, 1, -1, 65536, 2**31 - 1, -(2**31)],
    "u64": [0, 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1],
    "i64": [0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)],
}
FLOATS = [0.0, -0.0, 1.5, -2.0, np.inf, -np.inf]
# Bit patterns of 16 and 8 bits: 0, −0, 1, the largest finite number, the smallest, −2.
BITS = {
    "f16": [0x0000, 0x8000, 0x3C00, 0x7BFF, 0x0001, 0xC000],
    "bf16": [0x0000, 0x8000, 0x3F80, 0x7F7F, 0x0001, 0xC000],
    "e4m3": [0x00, 0x80, 0x38, 0x7E, 0x01, 0xC0],
    "e5m2": [0x00, 0x80, 0x3C, 0x7B, 0x01, 0xC0],
}
TORCH_NAMES = {
    "u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16", "u32": "uint32", "i32": "int32", "u64": "uint64", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "f32": "float32", "f64": "float64", "bool": "bool",
}  # fmt: skip


def arrays():
    """name → (array of shape [2, 3] that holds the bytes, name of the dtype in safetensors)"""
    made = {name: np.array(values, dtype=f"{name[0]}{int(name[1:]) // 8}") for name, values in INTEGERS.items()}
    made |= {name: np.array(bits, dtype="u2" if "16" in name else "u1") for name, bits in BITS.items()}
    made |= {"f32": np.array(FLOATS, dtype="f4"), "f64": np.array(FLOATS, dtype="f8"), "bool": np.array([0, 1, 1, 0, 1, 0], dtype="u1")}
    return {name: array.reshape(2, 3) for name, array in made.items()}


def write_safetensors(path):
    made = {name: (TORCH_NAMES[name], a) for name, a in arrays().items()}
    made["scalar"] = ("float32", np.array(42.0, dtype="f4"))
    made["empty"] = ("float16", np.zeros((0, 4), dtype="u2"))
    made['grüße "quoted" \\ 漢字'] = ("uint8", np.full((1,) * 6, 7, dtype="u1"))
    tensors = {
        name: TensorSpec(dtype=dtype, shape=a.shape, data_ptr=a.ctypes.data, data_len=a.nbytes) for name, (dtype, a) in made.items()
    }
    path.write_bytes(bytes(serialize(tensors, metadata={"format": "pt", "text": 'two\nlines, a "quote", 😀'})))


def write_gguf(path):
    writer = gguf.GGUFWriter(path, "test")
    writer.add_uint8("value.u8", 200)
    writer.add_int8("value.i8", -100)
    writer.add_uint16("value.u16", 60000)
    writer.add_int16("value.i16", -30000)
    writer.add_uint32("value.u32", 4000000000)
    writer.add_int32("value.i32", -2000000000)
    writer.add_uint64("value.u64", 2**63 - 1)
    writer.add_uint64("value.u64.largest", 2**64 - 1)
    writer.add_int64("value.i64", -(2**63))
    writer.add_float32("value.f32", 1e-5)
    writer.add_float64("value.f64", 0.1)
    writer.add_bool("value.true", True)
    writer.add_bool("value.false", False)
    writer.add_string("value.string", "Grüße, 漢字 😀\nnew line")
    writer.add_array("array.i32", [1, -1, 2**31 - 1, -(2**31)])
    writer.add_array("array.f32", [0.5, -0.25, 1e30])
    writer.add_array("array.bool", [True, False, True])
    writer.add_array("array.string", ["a", "", "ß", "long " * 20])

    shapes = arrays()
    types = gguf.GGMLQuantizationType
    for name in ("i8", "i16", "i32", "i64", "f32", "f64"):
        writer.add_tensor(name, shapes[name])
    writer.add_tensor("f16", shapes["f16"].view(np.float16))
    writer.add_tensor("bf16", shapes["bf16"].view(np.uint8), raw_dtype=types.BF16)
    writer.add_tensor("scalar.in.one.axis", np.array([42.0], dtype=np.float32))
    writer.add_tensor("four.axes", np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5))

    # Blocks of random bytes whose scales are small numbers; beside each its values as gguf's own formulas give them.
    random = np.random.default_rng(20240607)
    for name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"):
        kind = types[name]
        size, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, size=(2, 2, block_bytes), dtype=np.uint8)
        scales = random.uniform(-0.1, 0.1, size=(2, 2, 2)).astype(np.float16).view(np.uint8).reshape(2, 2, 4)
        if name == "Q6_K":
            blocks[..., -2:] = scales[..., :2]
        elif name in ("Q4_0", "Q5_0", "Q8_0"):
            blocks[..., :2] = scales[..., :2]
        else:
            blocks[..., :4] = scales
        rows = blocks.reshape(2, 2 * block_bytes)
        writer.add_tensor(name.lower(), rows, raw_dtype=kind)
        writer.add_tensor(name.lower() + ".values", gguf.dequantize(rows, kind).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    HERE.mkdir(parents=True, exist_ok=True)
    write_safetensors(HERE / "all_dtypes.safetensors")
    write_gguf(HERE / "all_types.gguf")
    from importlib.metadata import version

    made_by = {name: version(name) for name in ("safetensors", "gguf", "numpy")}
    (HERE / "versions.json").write_text(json.dumps(made_by, indent=2) + "\n")
    for path in sorted(HERE.iterdir()):
        print(path.name, path.stat().st_size)


main()
