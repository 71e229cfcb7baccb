#!/usr/bin/env python3
"""ONNX Runtime as a peer of operations.py: one node per graph, weights as initialisers so that it may pack them. Outputs are fresh."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from worker import serve

SIZES = {"16k": 1 << 14, "1M": 1 << 20, "16M": 1 << 24}
UNARY = {"exp": "Exp", "tanh": "Tanh", "gelu": "Gelu", "log": "Log", "sin": "Sin", "sigmoid": "Sigmoid", "erf": "Erf"}
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}


def session(node, feeds, constants, threads):
    """A model of one node, and the call that runs it."""
    inputs = [helper.make_tensor_value_info(name, TYPES[x.dtype], x.shape) for name, x in feeds.items()]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
    graph = helper.make_graph([node], "one", inputs, outputs, [numpy_helper.from_array(x, name) for name, x in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    run = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: run.run(None, feeds)


def numbers(*shape):
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)


def operations():
    ops = {}

    def offer(name, kind, feeds, constants=None, outputs=("y",), **attributes):
        def build(threads):
            fed, fixed = feeds(), constants() if constants else {}
            return session(helper.make_node(kind, [*fed, *fixed], list(outputs), **attributes), fed, fixed, threads)

        ops[name] = build

    for n in (256, 512, 1024, 2048):
        offer(f"matmul f32 {n}", "MatMul", lambda n=n: {"a": numbers(n, n), "b": numbers(n, n)})
    for m in (1, 16, 128, 512):
        offer(f"linear f32 m{m} 4096x4096", "Gemm", lambda m=m: {"x": numbers(m, 4096)}, lambda: {"w": numbers(4096, 4096)}, transB=1)
    for tag, n in SIZES.items():
        offer(f"add f32 {tag}", "Add", lambda n=n: {"a": numbers(n), "b": numbers(n)})
        offer(f"add i64 {tag}", "Add", lambda n=n: {"a": np.arange(n), "b": np.arange(n)})
        for name, kind in UNARY.items():
            offer(f"{name} f32 {tag}", kind, lambda n=n, name=name: {"x": np.abs(numbers(n)) + np.float32(0.1) if name == "log" else numbers(n)})
        offer(f"cast f32-bf16 {tag}", "Cast", lambda n=n: {"x": numbers(n)}, to=TensorProto.BFLOAT16)
        offer(f"sum f32 {tag}", "ReduceSum", lambda n=n: {"x": numbers(n)}, keepdims=0)
        offer(f"max f32 {tag}", "ReduceMax", lambda n=n: {"x": numbers(n)}, keepdims=0)
        offer(f"argmax f32 {tag}", "ArgMax", lambda n=n: {"x": numbers(n)}, keepdims=0)
        offer(f"cumsum f32 {tag}", "CumSum", lambda n=n: {"x": numbers(n)}, lambda: {"axis": np.array(0)})
    offer("sum axis0 f32 4096x4096", "ReduceSum", lambda: {"x": numbers(4096, 4096)}, lambda: {"axes": np.array([0])}, keepdims=0)
    offer("sum axis1 f32 4096x4096", "ReduceSum", lambda: {"x": numbers(4096, 4096)}, lambda: {"axes": np.array([1])}, keepdims=0)
    offer("transpose f32 4096x4096", "Transpose", lambda: {"x": numbers(4096, 4096)}, perm=[1, 0])
    for tag, shape in {"4096x4096": (4096, 4096), "128x1024": (128, 1024)}.items():
        offer(f"softmax f32 {tag}", "Softmax", lambda shape=shape: {"x": numbers(*shape)}, axis=-1)
    offer("layer_norm f32 4096x4096", "LayerNormalization", lambda: {"x": numbers(4096, 4096)}, lambda: {"w": numbers(4096), "b": numbers(4096)}, axis=-1)
    offer("conv3x3 64-64 56x56 f32", "Conv", lambda: {"x": numbers(1, 64, 56, 56)}, lambda: {"w": numbers(64, 64, 3, 3)}, pads=[1, 1, 1, 1])
    offer("depthwise3x3 128 56x56 f32", "Conv", lambda: {"x": numbers(1, 128, 56, 56)}, lambda: {"w": numbers(128, 1, 3, 3)}, pads=[1, 1, 1, 1], group=128)
    offer("embedding f32 4096 of 32000x1024", "Gather", lambda: {"t": numbers(32000, 1024), "i": np.random.default_rng(1).integers(0, 32000, 4096)})
    offer("topk50 f32 1M", "TopK", lambda: {"x": numbers(1 << 20)}, lambda: {"k": np.array([50])}, outputs=("y", "i"))
    offer("sort f32 1M", "TopK", lambda: {"x": numbers(1 << 20)}, lambda: {"k": np.array([1 << 20])}, outputs=("y", "i"))
    offer("small add 16", "Add", lambda: {"a": numbers(16), "b": numbers(16)})
    offer("small matmul 4x4", "MatMul", lambda: {"a": numbers(4, 4), "b": numbers(4, 4)})
    return ops


if __name__ == "__main__":
    serve(operations(), lambda threads: None)
