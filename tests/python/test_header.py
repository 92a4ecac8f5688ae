"""The declarations of src/python are those of the headers."""
import ctypes
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from tessera import _library, _structs

SOURCE = Path(os.environ["TSR_SOURCE_DIR"]) / "src"
COMPILER = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")


def words(text: str) -> str:
    return " ".join(text.split())


class Header(unittest.TestCase):
    def test_functions(self):
        headers = [(SOURCE / name).read_text()
                   for name in ("tessera.h", "tessera_types.h", "tessera_report.h")]
        headers = words(re.sub(r"/\*.*?\*/", "", "".join(headers), flags=re.DOTALL))
        for declaration in _library.DECLARATIONS.split(";")[:-1]:
            self.assertIn(f"TSR_API {words(declaration)};", headers)

    def test_structs(self):
        """A C compiler compares sizes, offsets and enumerators."""
        lines = ['#include "tessera.h"']

        def expect(expression, value):
            lines.append(f'_Static_assert({expression} == {value}, "{expression}");')

        for name, kind in _structs.STRUCTS.items():
            expect(f"sizeof({name})", ctypes.sizeof(kind))
            for member, *_ in kind._fields_:
                field = getattr(kind, member)
                expect(f"offsetof({name}, {member})", field.offset)
                expect(f"sizeof((({name} *)0)->{member})", field.size)
        for prefix, names in (("PLATFORM", _structs.PLATFORMS), ("PRECISION", _structs.PRECISIONS),
                              ("WEIGHTS", _structs.WEIGHTS)):
            for number, name in enumerate(names):
                expect(f"TSR_{prefix}_{name}", number)
        expect("TSR_ABI_VERSION", _structs.ABI_VERSION)
        expect("TSR_MAX_RANK", _structs.MAX_RANK)
        self.assertGreater(len(lines), 100)
        command = [COMPILER, "-std=c11", "-fsyntax-only", "-I", SOURCE, "-x", "c", "-"]
        done = subprocess.run(command, input="\n".join(lines), text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
