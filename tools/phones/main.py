"""What phones.sh runs once the drivers are there: see its --help."""

import argparse
import json
import os
import sys

import estimate
import expected
import tiles
import trace
from gpus import GPUS

NOTES = """Instructions, registers, threads, spills and fills are the compiler's. Threads are those of a core relative to one
(Mali, VideoCore), waves (Adreno, Radeon) or the SIMD width (Intel). Cycles are of a core, for the unit that is busiest; times are estimates, not
measured: the formula is in tools/phones/estimate.py, chips and sources in tools/phones/gpus.py. With --draws first, MODEL is what
a page drew with WebGL 2, as tools/phones/capture.js noted it."""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="tools/phones.sh", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="Compiles networks with the compilers of Mesa's drivers for phones, without "
                                     "their GPUs, and prints for each layer\nand program what came out, and how long it would "
                                     "take on a chip. The drivers are built once, in the user's cache.",
                                     epilog=NOTES)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="ONNX files; by default what tools/make_models makes (a "
                        "U-Net, an autoencoder, depthwise convolutions) and demos/models/edges2emoji.onnx")
    parser.add_argument("--gpu", action="append", choices=list(GPUS), metavar="NAME",
                        help="repeatable; by default all: " + ", ".join(GPUS))
    parser.add_argument("--precision", choices=["fp16", "fp32"], default="fp16", help="of stored tensors (fp16)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="size of a symbolic dimension; repeatable")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON, too")
    parser.add_argument("--brief", action="store_true", help="a line for each model and GPU, no tables of layers")
    parser.add_argument("--tiles", action="store_true", help="count what passes load into tile memory and store, too (Mali, "
                        "Adreno); --check does and compares with tools/phones/expected_tiles.csv")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare with tools/phones/expected.csv and expected_tiles.csv; exit "
                      "status 1 if a kernel is worse, more is loaded or stored, or a session does not open")
    what.add_argument("--update", action="store_true", help="rewrite the rows of these GPUs in these tables")
    o = parser.parse_args(arguments)
    if (o.check or o.update) and (o.models or o.precision != "fp16"):
        parser.error("the table is for the default models in fp16: name none with --check and --update")
    return o


MOST_WAVES = 16  # of an Adreno's core


def threads_of(stats, chip):
    if stats.threads or not chip.registers or not stats.registers:
        return stats.threads
    return min(MOST_WAVES, 2 * (chip.registers // stats.registers))


def row(gpu, p, program, e):
    stats = program.stats._replace(threads=threads_of(program.stats, GPUS[gpu].chip))
    return {
        "gpu": gpu, "layer": p.name, "op": p.op, "kernel": p.kernel, "program": p.program, "fragments": p.fragments,
        "targets": p.targets, "bits": p.bits, "draws": p.draws, "multiply_adds": p.macs, **stats._asdict(),
        "trips": e.trips, "cycles": e.cycles, "cycles_per_mac": e.per_mac, "ms": e.ms, "bound": e.bound,
    }


def measure(name, model, tool, drivers, o):
    """A dict of the results of a model on a GPU; "failed" if its session does not open or run."""
    gpu = GPUS[name]
    options = ["--precision", o.precision]
    for dim in o.dim:
        options += ["--dim", dim]
    traced, failed = trace.run(gpu, drivers, tool, model, options)
    silent = [p.kernel for p, program in traced if not program]
    if silent and not failed:
        failed = f"the driver printed nothing about kernel {silent[0]}: is it the one that phones.sh built?"
    if failed:
        return {"gpu": name, "model": model, "failed": failed}
    found = estimate.estimates(traced, gpu.chip)
    rows = [row(name, p, program, e) for (p, program), e in zip(traced, found)]
    return {"gpu": name, "model": model, "chip": gpu.chip._asdict(), "ms": sum(max(r["ms"].values()) for r in rows),
            "layers": rows}


COLUMNS = "{:22.22} {:16.16} {:22.22} {:>7} {:>6} {:>5} {:>7} {:>11} {:>19} {:>8} {:>9} {}"


def print_row(r):
    unit = max(r["cycles"], key=r["cycles"].get)
    per_mac = f"{r['cycles_per_mac']:.3f}" if r["cycles_per_mac"] else "-"
    print(COLUMNS.format(r["layer"], r["op"], r["kernel"], r["program"], r["instructions"], r["registers"] or "-",
                         r["threads"] or "-", f"{r['spills']}:{r['fills']}", f"{r['cycles'][unit]:.1f} {unit}", per_mac,
                         f"{max(r['ms'].values()):.3f}", r["bound"]))


def summary(result):
    programs = {r["program"]: r for r in result["layers"]}
    spilling = sum(1 for r in programs.values() if r["spills"] + r["fills"])
    bounds = {}
    for r in result["layers"]:
        bounds[r["bound"]] = bounds.get(r["bound"], 0) + max(r["ms"].values())
    parts = ", ".join(f"{100 * ms / result['ms']:.0f} % {unit}" for unit, ms in sorted(bounds.items(), key=lambda b: -b[1]))
    cycles = sum(r["fragments"] * max(r["cycles"].values(), default=0) for r in result["layers"])
    return (f"{len(programs)} programs, {spilling} spill registers; {cycles / 1e6:.2f} million cycles of a core; "
            f"about {result['ms']:.1f} ms on {result['chip']['name']}, bound by {parts}")


def print_result(result, brief):
    head = f"{os.path.basename(result['model'])} on {result['gpu']}: "
    if "failed" in result:
        print(f"{head}does not run: {result['failed']}", flush=True)
        return
    if not brief:
        print("\n" + COLUMNS.format("layer", "op", "kernel", "program", "inst", "regs", "threads", "spill:fill", "cycles/fragment",
                                    "per MAC", "ms", "bound by"))
        for r in result["layers"]:
            print_row(r)
    print(head + summary(result), flush=True)


def check(rows, failed, counted, gpus):
    lines = [f"{r['gpu']}: {r['model']} does not run: {r['failed']}" for r in failed]
    lines += expected.violations(expected.worst(rows), expected.read())
    table = {key: counts for key, counts in tiles.read().items() if key[0] in gpus}
    lines += tiles.violations(counted, table)
    lines += [f"{gpu}: loads and stores of {model} could not be counted" for gpu, model in sorted(table.keys() - counted.keys())]
    for line in lines:
        print("phones.sh: " + line, file=sys.stderr)
    if not lines:
        print("All kernels and tiles are as expected.")
    return 1 if lines else 0


def update(rows, counted, gpus):
    tiles.write({**{key: counts for key, counts in tiles.read().items() if key[0] not in gpus}, **counted})
    table = {key: value for key, value in expected.read().items() if key[0] not in gpus}
    table = {key: (spills, None if cycles != cycles else cycles) for key, (spills, cycles) in table.items()}
    table.update(expected.worst(rows))
    expected.write(table)


def refused(name, model, tool, drivers):
    """Of a GPU without OpenGL ES 3.0: None if Tessera refuses it as it should."""
    _, why = trace.run(GPUS[name], drivers, tool, model, [])
    if not why:
        return {"gpu": name, "model": model, "failed": "it ran, although this GPU has OpenGL ES 2.0 only"}
    print(f"{name}: refused, as it has OpenGL ES 2.0 only: {why}", flush=True)
    return None


def measure_all(gpus, models, tool, drivers, o):
    results = []
    for name in gpus:
        if not GPUS[name].chip:
            ran = refused(name, models[0], tool, drivers)
            results += [ran] if ran else []
            continue
        for model in models:
            results.append(measure(name, model, tool, drivers, o))
            print_result(results[-1], o.brief)
    return results


def print_counts(name, model, counts):
    told = ", ".join(f"{field} {value}" for field, value in counts._asdict().items() if value is not None)
    print(f"{os.path.basename(model)} on {name}: {told}", flush=True)


def count_tiles(gpus, models, tool, drivers, o):
    """{(gpu, model): counts} of those GPUs whose drivers tell."""
    counted = {}
    for name in gpus:
        for model in models if GPUS[name].chip else []:
            counts = tiles.run(GPUS[name], drivers, tool, model, ["--precision", o.precision])
            if counts:
                counted[name, os.path.basename(model)] = counts
                print_counts(name, model, counts)
    return counted


def main(tool, drivers, defaults, arguments):
    """tool: tessera; defaults: a folder of the models that are taken by default."""
    o = parse(arguments)
    gpus = o.gpu or list(GPUS)
    models = o.models or sorted(os.path.join(defaults, name) for name in os.listdir(defaults))
    results = measure_all(gpus, models, tool, drivers, o)
    rows = [r for result in results for r in result.get("layers", [])]
    if o.json:
        with open(o.json, "w", encoding="utf-8") as file:
            json.dump({"precision": o.precision, "results": results}, file, indent=1)
    counted = count_tiles(gpus, models, tool, drivers, o) if o.check or o.update or o.tiles else {}
    if o.update:
        update(rows, counted, gpus)
    failed = [r for r in results if "failed" in r]
    if o.check:
        return check(rows, failed, counted, gpus)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
