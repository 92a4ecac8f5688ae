"""Runs a model with a GPU's driver and finds out what the driver compiled for each pass.

`tessera run -vv` logs each pass with the number that its program has in OpenGL; Mesa calls the shaders of program 3 GLSL3 in
everything it prints about them. Whether a driver compiles when a program is linked or when it is drawn does not matter; where
it compiles again because the render targets changed, a pass has the latest when the next pass begins.
"""

import os
import re
import subprocess
from collections import namedtuple

import isa
from gpus import environment

# trips: how often the innermost loop runs for a fragment; only replay.c tells it.
Pass = namedtuple("Pass", "program kernel fragments targets bits draws channels_in channels_out read written node macs trips name op")
Program = namedtuple("Program", "stats instructions")

PASS = re.compile(r"tessera: pass: program (\d+), kernel (\w+), (\d+) fragments, (\d+) targets of (\d+) bits, (\d+) draws, "
                  r"(\d+) to (\d+) channels, (\d+) bytes read, (\d+) bytes written, node (-?\d+), (\d+) multiply-adds"
                  r"(?:, (\d+) trips)?, '(.*)' \((.*)\)$")

# Where a driver's output about a fragment program begins, what is its name, where it ends.
Marks = namedtuple("Marks", "begin name end")
MARKS = {
    "mali": Marks(r"^SHADER-DB|^name: ", r"^name: (\S+)", r"^SHADER-DB: MESA_SHADER_FRAGMENT"),
    "videocore": Marks(r"^tessera:", r"^SHADER-DB-(\S+)", r"^SHADER-DB-.* - MESA_SHADER_FRAGMENT"),
    "adreno": Marks(r"Native code for", r"Native code for unnamed FRAG shader (\S+)", r"; FRAG prog .* loops"),
    "radeonsi": Marks(r"^SHADER KEY", r"^tessera: pass: program (\d+)", r"^Max Waves:"),  # compiles when it draws
    "intel": Marks(r"^Native code for", r"^Native code for unnamed fragment shader (\S+)", r"^\s+END B\d+\s*$"),
}


class Log:
    """What a run printed, line by line."""

    def __init__(self, family, read):
        self.marks = Marks(*(re.compile(pattern) for pattern in MARKS[family]))
        self.family, self.read = family, read
        self.passes, self.of_pass, self.programs = [], [], {}
        self.name, self.lines = "", []

    def _finish_pass(self):
        if len(self.of_pass) < len(self.passes):
            self.of_pass.append(self.programs.get(self.passes[-1].program))

    def _finish_program(self):
        found = re.fullmatch(r"(?:GLSL)?(\d+)", self.name)
        if found:
            stats = isa.stats(self.family, self.lines)
            self.programs[int(found[1])] = Program(stats, self.read(self.lines, stats))
        self.lines = []

    def add(self, line):
        found = PASS.match(line)
        if found:
            self._finish_pass()
            numbers = [int(x) if re.fullmatch(r"-?\d+", x or "") else x for x in found.groups()[:-2]]
            self.passes.append(Pass(*numbers, *found.groups()[-2:]))
        ends = self.marks.end.search(line)
        if self.marks.begin.search(line) and not ends:
            self.lines = []
        named = self.marks.name.search(line)
        if named:
            self.name = named[1]
        self.lines.append(line)
        if ends:
            self._finish_program()

    def finish(self):
        self._finish_pass()
        return list(zip(self.passes, self.of_pass))


def lines(gpu, root, command, settings=()):
    """What the command prints, line by line, and last its exit status. settings: in place of the GPU's."""
    with subprocess.Popen(command, env={**os.environ, **environment(gpu, root), **dict(settings)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout:
            yield line.rstrip("\n")
    yield process.returncode


def run(gpu, root, tool, model, options):
    """Passes with their programs, and None; or nothing and why the run failed."""
    log = Log(gpu.family, gpu.read) if gpu.read else None
    command = ["stdbuf", "-oL", tool, "run", model, "--random", "--backend", "gles", "--no-tune", "-vv", *options]
    failure = "it printed nothing"
    for line in lines(gpu, root, command):
        if isinstance(line, int):
            break
        if log:
            log.add(line)
        if line.startswith("tessera: "):
            failure = line[len("tessera: "):]
    if line:
        return [], failure if line > 0 else f"it ended by signal {-line}"
    return log.finish() if log else [], None
