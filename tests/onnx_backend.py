"""ONNX's own tests of backends (onnx.backend.test, libonnx-testdata) through src/python.

A test is skipped where the library refuses what the model needs as unsupported, and where the test
itself cannot be met; the summary counts the reasons by kind. Exit code 1 if one fails.
"""
import argparse
import collections
import re
import sys
import time
import unittest

import numpy as np

np.object = object  # onnx 1.12 names it; numpy 1.24 has it no more

from onnx.backend.test import BackendTest  # noqa: E402

import tessera  # noqa: E402
from tessera.onnx_backend import TesseraBackend, TesseraRep  # noqa: E402

# Refusals of the library by what their messages say; the first that fits.
REFUSALS = [
    (r"not declared as a tensor|Sequence|Optional|Ragged", "sequences and optional values"),
    (r"element type string", "strings"),
    (r"bfloat16", "bfloat16, which numpy lacks: the tests have its bits in uint16"),
    (r"beyond the range of float32", "float64 beyond the range of float32"),
    (r"operators? ", "operators that Tessera lacks"),
    (r"shape of its result depends", "shapes that depend on elements, without the CPU's help"),
    (r"of integers a GPU computes|GPU does not compute",
     "types that a GPU lacks, without the CPU's help"),
]
WRONG = {"test_adam_multiple"}  # its results have an epsilon of 0.01, its model has none
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike"}
DOWNLOADED = "OnnxBackendRealModelTest"


class Skip(unittest.SkipTest):
    """The test's result has "kind|message"."""

    def __init__(self, kind, message=""):
        super().__init__(f"{kind}|{message}")


def kind_of(message):
    return next((kind for pattern, kind in REFUSALS if re.search(pattern, message)), "others")


def refuse(function, *arguments, **options):
    """What function returns, unless the library refuses as unsupported what it is asked for."""
    try:
        return function(*arguments, **options)
    except tessera.Error as error:
        if error.status != "UNSUPPORTED":
            raise
        raise Skip(kind_of(str(error)), str(error)) from error


class Rep(TesseraRep):
    def run(self, inputs, **_):
        outputs = refuse(super().run, inputs)
        if any(arg.type == "tensor(bfloat16)" for arg in self.session.get_outputs()):
            raise Skip(kind_of("bfloat16"))
        return outputs


class Tested(TesseraBackend):
    """All tests share a device, which keeps the programs that it compiled."""

    device = None
    options = tessera.SessionOptions()

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        if model.graph.name in WRONG:
            raise Skip("a test whose results are of another model")
        if RANDOM & {node.op_type for node in model.graph.node}:
            raise Skip("random numbers, which the tests expect to be ONNX's own")
        prepared = refuse(super().prepare, model, cls.device, sess_options=cls.options)
        return Rep(prepared.session)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"  # the name under which each test occurs once


def select_tests(every):
    """A suite of every N-th test, and the number of tests whose models must be downloaded."""
    suite, downloaded, number = unittest.TestSuite(), 0, 0
    for name, case in sorted(BackendTest(Tested, __name__).test_cases.items()):
        names = [test for test in unittest.defaultTestLoader.getTestCaseNames(case)
                 if test.endswith("_cpu")]
        if name == DOWNLOADED:
            downloaded += len(names)
            continue
        for test in names:
            number += 1
            if number % every == 0:
                suite.addTest(case(test))
    return suite, downloaded


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cpu", choices=["cpu", "gles", "webgpu"])
    parser.add_argument("--fallback", action="store_true", help="the CPU may help")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th test only")
    parser.add_argument("--verbose", action="store_true", help="print each test that is skipped")
    arguments = parser.parse_args()
    Tested.device = tessera.Device(arguments.backend)
    Tested.options.allow_cpu_fallback = arguments.fallback
    suite, downloaded = select_tests(arguments.every)
    start = time.perf_counter()
    result = unittest.TestResult()
    suite.run(result)
    for test, trace in result.failures + result.errors:
        print(f"FAIL {test.id().split('.')[-1]}\n{trace}")
    kinds = collections.Counter({"models that must be downloaded": downloaded})
    for test, reason in result.skipped:
        kind, message = reason.split("|", 1)
        kinds[kind] += 1
        if arguments.verbose:
            print(f"SKIP {test.id().split('.')[-1]}: {kind}: {message}")
    failed = len(result.failures) + len(result.errors)
    print(f"{arguments.backend}: {result.testsRun - failed - len(result.skipped)} passed, "
          f"{failed} failed, {kinds.total()} skipped in {time.perf_counter() - start:.1f} s")
    for kind, count in kinds.most_common():
        print(f"{count:5} {kind}")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
