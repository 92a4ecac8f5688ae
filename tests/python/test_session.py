"""Sessions: what goes in, what comes out, what is refused."""
import gc
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import numpy as np
import tessera
from cases import BACKENDS, model, open_session

TYPES = ["float32", "float16", "float64", "int64", "int32", "int16", "int8", "uint64", "uint32",
         "uint16", "uint8", "bool"]


class Refusing(unittest.TestCase):
    def refused(self, status, words, function, *arguments, **options):
        with self.assertRaisesRegex(tessera.Error, words) as caught:
            function(*arguments, **options)
        self.assertEqual(caught.exception.status, status)


class Describing(unittest.TestCase):
    def test_inputs_and_outputs(self):
        session = open_session("Add x[N,3] y[1,3] -> z!; Cast i:int64[M,2] -> f to=11")
        self.assertEqual(session.get_inputs()[0], ("x", "tensor(float)", ["N", 3]))
        self.assertEqual(session.get_inputs()[2], ("i", "tensor(int64)", ["M", 2]))
        self.assertEqual([arg.name for arg in session.get_outputs()], ["z", "f"])
        self.assertEqual(session.get_providers(), ["cpu"])
        self.assertEqual(session.get_modelmeta().custom_metadata_map, {})
        session = open_session("Cast x:int64[3,2] -> y to=11")
        self.assertEqual(session.get_outputs(), [("y", "tensor(double)", [3, 2])])

    def test_report(self):
        for backend in BACKENDS:
            session = open_session("Conv x[1,3,8,8] w{4,3,3,3} -> c; Relu c -> y", backend=backend)
            session.run(None, {"x": np.zeros((1, 3, 8, 8), np.float32)})
            report = session.report()
            self.assertEqual(report.backend, backend)
            self.assertEqual(report.macs, 4 * 36 * 27)
            self.assertEqual(sum(node.macs for node in report.nodes), report.macs)
            self.assertEqual(len(report.nodes), report.node_count)
            self.assertEqual(report.nodes[-1].shape, (1, 4, 6, 6))
            self.assertEqual(report.nodes[-1].dtype, "float32")
            self.assertIn("fuse_posts", [each.name for each in report.optimizer_passes])
            if backend != "cpu":
                self.assertEqual(report.nodes[0].op, "Conv+Relu")
                self.assertEqual([c.chosen for c in report.nodes[0].candidates].count(True), 1)
            self.assertTrue(session.write_dot().startswith("digraph"))


class Running(Refusing):
    def test_names(self):
        session = open_session("Relu x[2] -> p!; Neg x -> n!; Add p n -> s")
        feed = {"x": np.array([-1, 2], np.float32)}
        p, n, s = session.run(None, feed)
        self.assertEqual([p.tolist(), n.tolist(), s.tolist()], [[0, 2], [1, -2], [1, 0]])
        found = session.run(["s", "p", "s"], feed)
        self.assertEqual([array.tolist() for array in found], [[1, 0], [0, 2], [1, 0]])
        self.refused("INVALID_ARGUMENT", "no output 'q', only p, n, s", session.run, ["q"], feed)
        self.refused("INVALID_ARGUMENT", "no array for input 'x'", session.run, None, {})
        self.refused("INVALID_ARGUMENT", "no input z, only x", session.run, None, feed | {"z": p})

    def test_types(self):
        for backend in BACKENDS:
            device = tessera.Device(backend)
            for dtype in TYPES:
                session = open_session(f"Identity x:{dtype}[2,3] -> y", device=device)
                x = np.array([[0, 1, 2], [3, 0, 100]]).astype(dtype)
                (y,) = session.run(None, {"x": x})
                self.assertEqual((y.dtype, y.tolist()), (x.dtype, x.tolist()), backend)

    def test_types_that_numpy_lacks(self):
        session = open_session("Cast x:bfloat16[2] -> y! to=1; Cast x -> z to=16")
        y, z = session.run(None, {"x": np.array([1.5, 256.75], np.float32)})
        self.assertEqual(y.tolist(), [1.5, 256.75])
        self.assertEqual(z.dtype, np.float32)
        self.refused("UNSUPPORTED", "not as bits", session.run, None, {"x": np.zeros(2, np.uint16)})

    def test_arrays_of_any_form(self):
        session = open_session("Identity x[4,6] -> y")
        whole = np.arange(96, dtype=np.float32).reshape(8, 12)
        read_only = whole[:4, :6].copy()
        read_only.flags.writeable = False
        unaligned = np.frombuffer(b"\0" + whole[:4, :6].tobytes(), np.float32, offset=1)
        for x in (whole[::2, ::2], whole.T[:4, :6], np.asfortranarray(whole[:4, :6]), read_only,
                  whole[:4, :6].astype(">f4"), unaligned.reshape(4, 6), whole[:4, :6].tolist(),
                  whole[:4, :6].astype(np.int16)):
            (y,) = session.run(None, {"x": x})
            np.testing.assert_array_equal(y, np.asarray(x, np.float32))
        for x in (np.full((4, 6), "a"), np.zeros((4, 6), complex)):
            self.refused("UNSUPPORTED", "are not supported", session.run, None, {"x": x})
        self.refused("SHAPE", "9 axes", session.run, None, {"x": np.zeros((1,) * 9)})

    def test_scalars_and_nothing(self):
        for backend in BACKENDS:
            (y,) = open_session("Neg x[] -> y", backend=backend).run(None, {"x": np.float32(3)})
            self.assertEqual((y.shape, y.item()), ((), -3))
            session = open_session("Neg x[N,3] -> y", backend=backend)
            (y,) = session.run(None, {"x": np.zeros((0, 3), np.float32)})
            self.assertEqual(y.shape, (0, 3))

    def test_numbers_out_of_range(self):
        session = open_session("Mul x:int64[1] k(16777217) -> y")
        (y,) = session.run(None, {"x": np.array([3])})
        self.assertEqual(y.tolist(), [50331651])
        self.refused("INVALID_ARGUMENT", "beyond 2", session.run, None, {"x": np.array([1 << 30])})
        session = open_session("Neg x:float64[2] -> y")
        (y,) = session.run(None, {"x": np.array([1e38, np.inf])})
        self.assertEqual(y.tolist(), [-float(np.float32(1e38)), -np.inf])
        x = {"x": np.array([1e39, 0])}
        self.refused("UNSUPPORTED", "range of float32", session.run, None, x)

    def test_any_shape(self):
        text = "Conv x[N,2,H,W] w{3,2,3,3} -> y"
        for backend in BACKENDS:
            options = tessera.SessionOptions(kept_shapes=2)
            session = open_session(text, sess_options=options, backend=backend)
            self.refused("INVALID_ARGUMENT", "not known yet", session.report)
            expected = open_session(text)
            for shape in ((1, 2, 5, 5), (2, 2, 7, 4), (1, 2, 3, 3), (1, 2, 5, 5)):
                x = np.random.default_rng(1).random(shape, np.float32)
                (y,), (z,) = session.run(None, {"x": x}), expected.run(None, {"x": x})
                np.testing.assert_allclose(y, z, atol=1e-5)
            self.assertEqual(len(session._plans), 2)
            bad = {"x": np.zeros((1, 3, 5, 5), np.float32)}
            self.refused("SHAPE", "input 'x' .* does not fit", session.run, None, bad)

    def test_parameters(self):
        for backend in BACKENDS:
            session = open_session("Reshape x[6] s:int64[2] -> y", backend=backend)
            for shape in ((2, 3), (3, 2), (2, 3)):
                x = np.arange(6, dtype=np.float32)
                (y,) = session.run(None, {"x": x, "s": np.array(shape)})
                self.assertEqual((y.shape, y.ravel().tolist()), (shape, x.tolist()))
            self.assertEqual(len(session._plans), 2)
            self.refused("INVALID_ARGUMENT", "from float32", session.run, None,
                         {"x": np.zeros(6), "s": np.array([2, 3], np.float32)})

    def test_shapes_known_after_a_run(self):
        for providers in [["cpu"]] + [[backend, "cpu"] for backend in BACKENDS[:-1]]:
            session = open_session("NonZero x[5] -> y", providers=providers)
            for x in ([0, 1, 0, 2, 3], [0, 0, 0, 0, 0], [1, 0, 0, 0, 0]):
                (y,) = session.run(None, {"x": np.array(x, np.float32)})
                self.assertEqual((y.dtype, y.tolist()), (np.int64, [np.flatnonzero(x).tolist()]))
            self.assertEqual(session.get_providers(), providers)
        for backend in BACKENDS[:-1]:
            self.refused("UNSUPPORTED", "NonZero", open_session, "NonZero x[5] -> y",
                         backend=backend)

    def test_options(self):
        options = tessera.SessionOptions(precision="auto", extra_outputs=["c"])
        options.add_free_dimension_override_by_name("N", 1)
        x = np.random.default_rng(1).random((1, 3, 8, 8), np.float32)
        for backend in BACKENDS:
            session = open_session("Conv x[N,3,8,8] w{4,3,3,3} -> c; Relu c -> y",
                                   sess_options=options, backend=backend)
            y, c = session.run(["y", "c"], {"x": x})
            np.testing.assert_array_equal(y, np.maximum(c, 0))
            self.assertEqual(len(session.run(None, {"x": x})), 1)
            self.assertEqual(session.report().calibrated_error >= 0, backend != "cpu")
        options = tessera.SessionOptions(precision="int8")
        self.refused("INVALID_ARGUMENT", "precision 'int8', only fp32, fp16, auto", open_session,
                     "Relu x[1] -> y", sess_options=options)


class Making(Refusing):
    def test_bad_models(self):
        self.refused("IO", "no such", tessera.InferenceSession, "/no such file")
        self.refused("INVALID_MODEL", "model in memory", tessera.InferenceSession, b"not a model")
        self.refused("UNSUPPORTED", "operator NoSuch", open_session, "NoSuch x[2] -> y")

    def test_providers(self):
        text = "Relu x[2] -> y"
        for providers in (["CPUExecutionProvider"], [("cpu", {})]):
            self.assertEqual(open_session(text, providers=providers).get_providers(), ["cpu"])
        with self.assertWarnsRegex(UserWarning, "CUDAExecutionProvider is left out"):
            session = open_session(text, providers=["CUDAExecutionProvider", "cpu"])
        self.assertEqual(session.get_providers(), ["cpu"])
        self.refused("NO_DEVICE", "no backend 'metal'", open_session, text, backend="metal")
        self.refused("INVALID_ARGUMENT", "give one of", open_session, text, backend="cpu",
                     providers=["cpu"])
        session = tessera.InferenceSession(model(text), None, ["cpu"], [{"gpu": 0}])
        self.assertEqual(session.get_providers(), ["cpu"])

    def test_closing(self):
        for backend in BACKENDS:
            x = {"x": np.ones(2, np.float32)}
            with tessera.Device(backend) as device:
                session = open_session("Relu x[2] -> y", device=device)
                with open_session("Neg x[2] -> y", device=device) as other:
                    other.run(None, x)
            self.refused("INVALID_ARGUMENT", "is closed", other.run, None, x)
            self.refused("INVALID_ARGUMENT", "is closed", other.report)
            other.close()
            session.run(None, x)  # it holds the device
            self.refused("INVALID_ARGUMENT", "is closed", open_session, "Abs x[2] -> y",
                         device=device)
            session.close()

    def test_garbage(self):
        """Sessions that nobody closed, in cycles, found on threads that others make wait."""
        for backend in BACKENDS:
            device = tessera.Device(backend)
            x = {"x": np.ones((2, 2), np.float32)}
            failed = []

            def work():
                try:
                    for _ in range(5):
                        session = open_session("MatMul x[2,2] w{2,2} -> y", device=device)
                        session.itself = session
                        session.run(None, x)
                        gc.collect()
                except Exception as error:
                    failed.append(error)

            threads = [threading.Thread(target=work) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(failed, [])
            gc.collect()
            device.info
            self.assertFalse(device._handle.unused)

    def test_threads(self):
        session = open_session("Neg x[N] -> y", backend=BACKENDS[0])
        wrong = []

        def work(number):
            for i in range(20):
                x = np.full(1 + i % 3, number, np.float32)
                (y,) = session.run(None, {"x": x})
                if y.tolist() != (-x).tolist():
                    wrong.append((number, y))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_exit(self):
        """Nothing is closed when the interpreter ends; a thread is in the middle of a run."""
        program = """if True:
            import threading, time
            import numpy as np
            from cases import open_session
            session = open_session("Conv x[1,2,9,9] w{2,2,3,3} -> y", backend=BACKEND)
            session.itself = session
            x = np.zeros((1, 2, 9, 9), np.float32)
            session.run(None, {"x": x})
            def work():
                while True:
                    session.run(None, {"x": x})
            threading.Thread(target=work, daemon=True).start()
            time.sleep(0.05)
            """
        for backend in BACKENDS:
            done = subprocess.run([sys.executable, "-c", program.replace("BACKEND", repr(backend))],
                                  cwd=Path(__file__).parent, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, (backend, done.stderr))
