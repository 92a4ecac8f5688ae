"""How long a pass would take on a chip: an estimate from counts, not measured.

  trips     Of the loops without a loop in them, those with multiplications are the kernel's innermost ones. They run as often
            as it takes to make the layer's multiply-adds: trips = multiply-adds of a fragment / multiplications in the loops.
            Channels are padded to four: the kernel makes those of the padding, too. Everything else is counted once, loops
            around them included. Draws that replay.c repeats tell trips themselves.
  cycles    of a core for a fragment, by unit = (what is outside the loops + trips * what is in them) / the unit's rate
  time      the largest of cycles * fragments / (cores * clock), by unit, and of bytes / bandwidth. That one is what bounds the
            pass. Each byte of its inputs, weights and outputs moves once.

It is a lower bound in most cases: units are taken to work side by side without waiting (threads tell how much can be hidden) and
caches to hold what is read again. Draws cost nothing.
"""

from collections import namedtuple

from trace import Pass, Program

# cycles: of a core, for a fragment, by unit; ms: by unit, and for "bandwidth"; per_mac: core cycles for a multiply-add.
Estimate = namedtuple("Estimate", "trips cycles ms per_mac bound")

WINOGRAD = 16 / 36  # F(2x2, 3x3): multiplications for one of the convolution's multiply-adds


def is_product(kernel):
    return kernel.startswith(("conv", "matmul")) and kernel != "conv_assemble"


def shares(passes):
    """Of its node's multiply-adds, what each pass makes: in proportion to the texels that it writes."""
    texels = {}
    for p in passes:
        if is_product(p.kernel):
            texels[p.node] = texels.get(p.node, 0) + p.fragments * p.targets
    return [p.macs * p.fragments * p.targets / texels[p.node] if is_product(p.kernel) else 0 for p in passes]


def padding(p):
    """Multiply-adds that the kernel makes for one of the layer's. A depthwise kernel has a single sum for a channel."""
    sides = [p.channels_out] if "depthwise" in p.kernel else [p.channels_in, p.channels_out]
    share = 1.0
    for channels in sides:
        share *= -(-channels // 4) * 4 / channels if channels else 1
    return share


def _sum(instructions):
    cost = {}
    for i in instructions:
        for unit, count in i.cost.items():
            cost[unit] = cost.get(unit, 0) + count
    return cost


def innermost_loops(instructions):
    """Ranges [begin, end) of loops with multiplications and without such a loop in them."""
    loops = sorted({(i.jump, at + 1) for at, i in enumerate(instructions) if i.jump is not None and i.jump <= at})
    loops = [l for l in loops if any(i.macs for i in instructions[l[0]:l[1]])]
    return [l for l in loops if not any(m != l and l[0] <= m[0] and m[1] <= l[1] for m in loops)]


def fragment_cost(instructions, macs, trips=None):
    """Cycles of a fragment, by unit, and the trips of its loop: told, or for its number of multiply-adds."""
    loops = innermost_loops(instructions)
    inside = [i for begin, end in loops for i in instructions[begin:end]]
    per_trip = sum(i.macs for i in inside)
    trips = (trips or max(1.0, macs / per_trip)) if per_trip else 1.0
    cost = _sum(instructions)
    for unit, count in _sum(inside).items():
        cost[unit] += (trips - 1) * count
    return cost, trips


def estimate(p: Pass, program: Program, share, winograd, chip):
    made = share * padding(p) * (WINOGRAD if winograd else 1)
    cost, trips = fragment_cost(program.instructions, made / p.fragments, p.trips)
    cycles = {unit: count / chip.rates[unit] for unit, count in cost.items() if unit in chip.rates}
    ms = {unit: n * p.fragments / (chip.cores * chip.mhz * 1e3) for unit, n in cycles.items()}
    ms["bandwidth"] = (p.read + p.written) / (chip.gbytes * 1e6)
    most = max(cycles.values(), default=0.0)
    return Estimate(trips, cycles, ms, most * p.fragments / share if share else None, max(ms, key=ms.get))


def estimates(traced, chip):
    """For the passes of a run with their programs, in the same order."""
    passes = [p for p, _ in traced]
    winograd = {p.node for p in passes if p.kernel == "winograd_input"}
    return [estimate(p, program, share, p.node in winograd, chip) for (p, program), share in zip(traced, shares(passes))]
