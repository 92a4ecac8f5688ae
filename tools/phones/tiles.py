"""What the passes of a run make a GPU load into tile memory and store, as its driver's dump tells.

Mali: pandecode's text of every job. A frame that is loaded has a "Pre Frame 0" other than Never; on Midgard (Mali-T) a rectangle
is drawn for it, as a strip, where Tessera draws triangles only. Bytes are those of the 16x16 pixels that a job's bounds count,
in all its targets. Jobs without draws, which clear textures when a session is made, are left out.
Adreno: freedreno counts its batches: "restore" are those that load; bytes are not told."""

import csv
import glob
import os
import re
import tempfile
from collections import namedtuple

import trace

# copies: how often the driver waits for its jobs and copies with the CPU, to read back: once for the result
Counts = namedtuple("Counts", "jobs loads loaded_kib stored_kib copies")
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_tiles.csv")

FIELD = re.compile(r"(\s*)(Pre Frame 0|Type|Draw mode|Render Target Count|Writeback Format|Bound M\w\w [XY]): (\S+)")
PIXEL_BYTES = {"RAW128": 16, "RAW64": 8, "RAW32": 4}
TILE_PIXELS = 16 * 16


def mali(lines, copies):
    """Counts of the lines of a dump."""
    jobs = loads = loaded = stored = 0
    draws, strips, job = 0, 0, None
    for line in lines:
        found = FIELD.match(line)
        if not found:
            continue
        indent, name, value = found.groups()
        if name == "Draw mode":
            draws, strips = draws + (value == "Triangles"), strips + line.rstrip().endswith("strip")
        elif name == "Type" and value == "Fragment":
            job = {"strips": strips}
        elif job is not None and not (name == "Writeback Format" and name in job):
            job[name] = value
        if job is None or name != "Bound Max Y" or len(indent) != 2:  # the job's own bounds end its text
            continue
        size = TILE_PIXELS * int(job["Render Target Count"]) * PIXEL_BYTES.get(job["Writeback Format"], 4)
        for axis in "XY":
            size *= int(job["Bound Max " + axis]) - int(job["Bound Min " + axis]) + 1
        if draws:
            loads_it = job["strips"] > 0 or job.get("Pre Frame 0", "Never") != "Never"
            jobs, loads, loaded, stored = jobs + 1, loads + loads_it, loaded + size * loads_it, stored + size
        draws, strips, job = 0, 0, None
    return Counts(jobs, loads, loaded // 1024, stored // 1024, copies)


def adreno(lines):
    found = re.findall(r"batch_sysmem=(\d+), batch_gmem=(\d+), batch_nondraw=\d+, batch_restore=(\d+)", "\n".join(lines))
    sysmem, gmem, restore = map(int, found[-1])
    return Counts(sysmem + gmem, restore, None, None, None)


def _dumps(folder):
    for path in sorted(glob.glob(os.path.join(folder, "dump.*"))):
        with open(path, errors="replace", encoding="utf-8") as file:
            yield from file


def run(gpu, root, tool, model, options):
    """Counts of a run of the model; None for GPUs whose drivers do not tell, or fail while they do: Mesa 22.3 ends the process
    where it decodes some jobs of Mali-G57."""
    command = [tool, "run", model, "--random", "--backend", "gles", "--no-tune", *options]
    if gpu.family == "adreno":
        *text, status = trace.lines(gpu, root, command, {"FD_MESA_DEBUG": "bstat,msgs", "IR3_SHADER_DEBUG": ""})
        return None if status else adreno(text)
    if gpu.family != "mali":
        return None
    with tempfile.TemporaryDirectory() as folder:
        quiet = {name: "" for name in gpu.settings if name.endswith("_DEBUG")}
        settings = {**quiet, "PAN_MESA_DEBUG": "trace,perf", "PANDECODE_DUMP_FILE": os.path.join(folder, "dump")}
        *text, status = trace.lines(gpu, root, command, settings)
        return None if status else mali(_dumps(folder), sum("Synchronized read" in line for line in text))


def read(path=PATH):
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["gpu"], row["model"]): Counts(*(int(row[name]) if row[name] else None for name in Counts._fields))
                for row in csv.DictReader(file)}


def write(table, path=PATH):
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["gpu", "model", *Counts._fields])
        for key, counts in sorted(table.items()):
            lines.writerow([*key, *("" if value is None else value for value in counts)])


def violations(measured, table):
    """A line for each count that is more than expected."""
    lines = []
    for (gpu, model), counts in sorted(measured.items()):
        if (gpu, model) not in table:
            lines.append(f"{gpu}: {model} is not in the table of tiles: --update adds it")
            continue
        lines += [f"{gpu}: {model}: {name} {value}, expected are at most {most}"
                  for name, value, most in zip(Counts._fields, counts, table[gpu, model]) if value is not None and value > most]
    return lines
