"""What the tests share: small models, the backends that are here."""
import os
import subprocess
import tempfile
from pathlib import Path

import tessera

MAKE_CASE = Path(os.environ["TSR_BUILD_DIR"]) / "make_case"
BACKENDS = tessera.get_available_providers()


def model(text: str, opset: int = 13) -> bytes:
    """An ONNX file of one line of text: see tests/support/onnx_case.h."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "case.onnx"
        subprocess.run([MAKE_CASE, str(opset), text, file], check=True)
        return file.read_bytes()


def open_session(text: str, opset: int = 13, **options) -> tessera.InferenceSession:
    """On the cpu, unless the options say where."""
    if not options.keys() & {"backend", "providers", "device"}:
        options["backend"] = "cpu"
    return tessera.InferenceSession(model(text, opset), **options)
