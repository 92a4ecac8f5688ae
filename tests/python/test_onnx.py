"""The interface of onnx.backend.base; tests/onnx_backend.py has ONNX's own tests."""
import unittest

import numpy as np
import onnx
import tessera
from cases import BACKENDS, model
from tessera import onnx_backend


class Backend(unittest.TestCase):
    def test_devices(self):
        for name, backend in onnx_backend.BACKENDS.items():
            self.assertEqual(onnx_backend.supports_device(name), backend in BACKENDS)
        self.assertFalse(onnx_backend.supports_device("CUDA"))

    def test_models(self):
        loaded = onnx.load_model_from_string(model("Sub x[2] y[2] -> z"))
        x, y = np.array([5, 3], np.float32), np.array([1, 1], np.float32)
        for inputs in ([x, y], {"y": y, "x": x}):
            (z,) = onnx_backend.run_model(loaded, inputs, "CPU")
            self.assertEqual(z.tolist(), [4, 2])
        (z,) = onnx_backend.prepare(loaded, tessera.Device("cpu")).run([x, y])
        self.assertEqual(z.tolist(), [4, 2])
        with self.assertRaises(ValueError):
            onnx_backend.run_model(loaded, x)

    def test_nodes(self):
        x = np.array([[3, 1], [2, 4]], np.float32)
        node = onnx.helper.make_node("TopK", ["x", "k"], ["values", "indices"], axis=1)
        values, indices = onnx_backend.run_node(node, [x, np.array([1])])
        self.assertEqual((values.tolist(), indices.tolist()), ([[3], [4]], [[0], [1]]))
        node = onnx.helper.make_node("ReduceSum", ["x"], ["y"], axes=[1], keepdims=0)
        (y,) = onnx_backend.run_node(node, [x], opset_version=11)
        self.assertEqual(y.tolist(), [4, 6])
