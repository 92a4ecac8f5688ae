"""Makes the wheel, for tools/python.sh and for pip (PEP 517), with Python's own modules only.

The environment variable TSR_LIBRARY names the shared library that goes into it.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def _defined(name: str) -> str:
    """A macro of tessera.h, without quotes."""
    header = (ROOT / "src/tessera.h").read_text()
    return re.search(rf'^#define {name} "?([^"\n]+)', header, re.MULTILINE)[1]


def _protobuf_c(library: Path) -> dict[str, Path]:
    """The library that Tessera's needs, with its licence, where Debian's package has both."""
    linked = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(libprotobuf-c\.so\.\d+) => (\S+)", linked)
    licence = Path("/usr/share/doc/libprotobuf-c1/copyright")
    return {f"tessera/{found[1]}": Path(found[2]),
            "tessera/libprotobuf-c.copyright": licence} if found and licence.exists() else {}


def _files() -> dict[str, Path]:
    library = Path(os.environ.get("TSR_LIBRARY", "TSR_LIBRARY, which names no file"))
    if not library.is_file():
        sys.exit(f"There is no {library}: tools/python.sh wheel builds it")
    files = {f"tessera/{path.name}": path for path in sorted((HERE / "tessera").glob("*.py"))}
    files[f"tessera/libtessera.so.{_defined('TSR_ABI_VERSION')}"] = library
    return files | _protobuf_c(library)


def _metadata(version: str, tag: str) -> dict[str, bytes]:
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}",
             *(f"Requires-Dist: {name}" for name in project["dependencies"]),
             "Description-Content-Type: text/markdown", ""]
    wheel = ["Wheel-Version: 1.0", "Generator: tessera", "Root-Is-Purelib: false", f"Tag: {tag}"]
    return {"METADATA": "\n".join(lines).encode() + b"\n" + (ROOT / "docs/python.md").read_bytes(),
            "WHEEL": "\n".join(wheel).encode() + b"\n",
            "LICENSE": (ROOT / "LICENSE").read_bytes()}


def _record(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    """The name of the file, which is the same for the same contents."""
    version = _defined("TSR_VERSION")
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    info = f"tessera-{version}.dist-info"
    contents = {name: path.read_bytes() for name, path in _files().items()}
    contents |= {f"{info}/{name}": text for name, text in _metadata(version, tag).items()}
    record = "".join(_record(name, content) for name, content in contents.items())
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"tessera-{version}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


if __name__ == "__main__":
    print(Path(sys.argv[1]) / build_wheel(sys.argv[1]))
