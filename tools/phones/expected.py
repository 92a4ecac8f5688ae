"""The committed table of what is expected of each kernel on each GPU, and how it is compared.

A line of expected.csv: GPU, kernel, the most registers spilled and filled by one of its programs, the most core cycles for a
multiply-add (empty where it makes none). It is for the models that phones.sh takes by default, in 16 bits."""

import csv
import os

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected.csv")
FIELDS = ["gpu", "kernel", "spills", "cycles_per_mac"]
TOLERANCE = 1.02  # the table is rounded


def worst(results):
    """{(gpu, kernel): (spills, cycles for a multiply-add or None)} of rows of results."""
    table = {}
    for row in results:
        key = row["gpu"], row["kernel"]
        spills, cycles = table.get(key, (0, None))
        per_mac = row["cycles_per_mac"]
        if per_mac is not None and (cycles is None or per_mac > cycles):
            cycles = per_mac
        table[key] = max(spills, row["spills"] + row["fills"]), cycles
    return table


def read(path=PATH):
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["gpu"], row["kernel"]): (int(row["spills"]), float(row["cycles_per_mac"] or "nan"))
                for row in csv.DictReader(file)}


def write(table, path=PATH):
    with open(path, "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(FIELDS)
        for (gpu, kernel), (spills, cycles) in sorted(table.items()):
            lines.writerow([gpu, kernel, spills, "" if cycles is None else f"{cycles:.3g}"])


def violations(measured, table):
    """A line for each kernel that is worse than expected, or that the table does not have."""
    lines = []
    for (gpu, kernel), (spills, cycles) in sorted(measured.items()):
        if (gpu, kernel) not in table:
            lines.append(f"{gpu}: kernel {kernel} is not in the table: --update adds it")
            continue
        most, most_cycles = table[gpu, kernel]
        if spills > most:
            lines.append(f"{gpu}: {kernel} spills and fills {spills} registers, expected are at most {most}")
        if cycles is not None and cycles > most_cycles * TOLERANCE:
            lines.append(f"{gpu}: {kernel} takes {cycles:.3g} cycles for a multiply-add, expected are at most {most_cycles:.3g}")
    return lines
