"""Reads what Mesa's compilers print about a fragment program: its listing, and their own statistics.

A listing becomes a list of instructions. Each has what it costs, by unit of the GPU and for one fragment, the
multiplications of floats that it makes (a multiply-add is one; where none is fused, a multiplication and an addition are),
and the index of the instruction that it jumps to, if any. Costs are counts of what a unit does for a fragment; the units'
rates are in gpus.py.
"""

import re
from collections import namedtuple

Instruction = namedtuple("Instruction", "cost macs jump", defaults=(None,))

# What the compiler says itself; None where it says nothing. threads: per core or unit, relative to the most, or the width.
Stats = namedtuple("Stats", "instructions registers threads spills fills")


def _number(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return int(found[1]) if found else None


def _shader_db(text):
    """The line that Mali's and VideoCore's compilers print for shader-db."""
    line = text.splitlines()[-1]
    return Stats(
        _number(r"(\d+) inst\b", line),
        _number(r"(\d+) (?:max-temps|registers)", line),
        _number(r"(\d+) threads", line),
        _number(r"(\d+):\d+ spills:fills", line) or 0,
        _number(r"\d+:(\d+) spills:fills", line) or 0,
    )


def _adreno_stats(text):
    """Spilled registers are in private memory, stored with stp and loaded with ldp."""
    spills, fills = (len(re.findall(rf"\b{op}\.", text)) for op in ("stp", "ldp"))
    return Stats(_number(r"FRAG prog \S+ (\d+) instr", text), _number(r"(\d+) full", text), None, spills, fills)


def _intel_stats(text):
    return Stats(
        _number(r"shader: (\d+) instructions", text),
        None,
        _number(r"^SIMD(\d+) shader", text),
        _number(r"(\d+):\d+ spills:fills", text) or 0,
        _number(r"\d+:(\d+) spills:fills", text) or 0,
    )


def _radeonsi_stats(text):
    """Scalar registers spill into vector registers, which is no memory access; fills are not told."""
    spills = sum(_number(rf"^{what}: (\d+)", text) or 0 for what in ("Spilled VGPRs", "Private memory VGPRs"))
    instructions = len(re.findall(r"^\t[a-z]+_\w+", text, re.MULTILINE))
    return Stats(instructions, _number(r"^VGPRS: (\d+)", text), _number(r"^Max Waves: (\d+)", text), spills, 0)


def stats(family, lines):
    """lines: what was printed about a fragment program."""
    readers = {"mali": _shader_db, "videocore": _shader_db, "adreno": _adreno_stats, "intel": _intel_stats,
               "radeonsi": _radeonsi_stats}
    return readers[family]("\n".join(lines))


def _resolve(rows, labels):
    return [Instruction(cost, macs, labels.get(jump, None)) for cost, macs, jump in rows]


# ---- Mali, Bifrost (G31, G52) ----------------------------------------------------------------------------------------

BIFROST_TEXTURE = ("TEX", "VAR_TEX")
BIFROST_VARYING = ("LD_VAR",)
BIFROST_MEMORY = ("LOAD", "STORE", "LD_ATTR", "LD_CVT", "ST_CVT", "ATOM", "LEA_TEX", "LEA_ATTR", "LD_UBO", "AXCHG", "ACMPXCHG")
BIFROST_OTHER = ("BLEND", "ATEST", "ZS_EMIT", "LD_TILE", "BARRIER", "DISCARD")


def _bifrost_message(opcode):
    for unit, names in (("texture", BIFROST_TEXTURE), ("varying", BIFROST_VARYING), ("memory", BIFROST_MEMORY),
                        ("", BIFROST_OTHER)):
        if opcode.startswith(names):
            return unit
    return None


def _bifrost_tuple(fma, add):
    """As Mesa's bi_count_tuple_stats: a message costs arithmetic only if a multiply-add is beside it."""
    message = _bifrost_message(add.split()[0])
    idle = fma.split()[0].startswith("NOP")
    cost = {}
    if message is None or not idle:
        cost["arithmetic"] = 1
    if message:
        cost[message] = 1
    vector = 2 if ".v2f16" in fma else 1
    macs = vector if re.match(r"FMA(\.|_)", fma) else 0
    jump = re.search(r"(?:JUMP|BRANCH\w*)\S* .*(clause_\d+)", add)
    return cost, macs, jump and jump[1]


def bifrost(lines, _stats):
    rows, labels, fma = [], {}, "NOP"
    for line in lines:
        text = line.strip()
        if re.fullmatch(r"clause_\d+:", text):
            if text == "clause_0:":
                rows, labels = [], {}
            labels[text[:-1]] = len(rows)
        elif text.startswith("*"):
            fma = text[1:]
        elif text.startswith("+") and len(text) > 1:
            rows.append(_bifrost_tuple(fma, text[1:]))
            fma = "NOP"
    return _resolve(rows, labels)


# ---- Mali, Valhall (G57): units of Mesa's src/panfrost/bifrost/valhall/ISA.xml ---------------------------------------

VALHALL_UNITS = {
    "fma": ("FADD", "FMA", "IDP", "LDEXP"),
    "sfu": ("BITREV", "CLPER", "CUBE", "FATAN", "FCOS", "FEXP", "FLOG", "FPCLASS", "FRCP", "FRSQ", "FSIN", "IMUL", "LSHIFT",
            "MUX", "NOT_OLD", "POPCOUNT", "RSHIFT"),
    "texture": ("TEX_", "VAR_TEX"),
    "varying": ("LD_VAR",),
    "memory": ("ATOM", "LD_ATTR", "LD_BUFFER", "LD_TEX", "LEA_", "LOAD", "STORE", "ST_CVT"),
    "": ("ATEST", "BARRIER", "BLEND", "LD_TILE", "ST_TILE", "ZS_EMIT"),
}


def _valhall_unit(opcode):
    for unit, names in VALHALL_UNITS.items():
        if opcode.startswith(names):
            return unit
    return "convert"


def valhall(lines, _stats):
    rows, labels = [], {}
    for line in lines:
        if line.startswith("}"):  # the end of an intermediate form: the listing follows the last
            rows = []
        found = re.match(r"   ([A-Z][A-Z0-9_]+)(\S*)", line)
        if not found:
            continue
        unit = _valhall_unit(found[1])
        macs = (2 if ".v2f16" in found[2] else 1) if found[1].startswith("FMA") else 0
        offset = _number(r"offset:(-?\d+)", line) if found[1] == "BRANCHZ" else None
        jump = None if offset is None else len(rows) + 1 + offset
        rows.append(({unit: 1} if unit else {}, macs, jump))
        labels[jump] = jump
    return _resolve(rows, labels)


# ---- Mali, Midgard (T860) --------------------------------------------------------------------------------------------


MIDGARD_BITS = {"vmul": 64, "sadd": 48, "vadd": 64, "smul": 48, "lut": 64, "brx": 48, "br": 16, "jmp": 16}


def _midgard_words(lines):
    """Of 16 bytes: 32 bits for the bundle, those of its instructions, constants in a word of their own."""
    bits = [MIDGARD_BITS.get(line.split(".")[0], 0) for line in lines if not line.startswith("uconstants")]
    return -(-(32 + sum(bits)) // 128) + len(lines) - len(bits)


def _midgard_bundle(lines):
    """Words, cost, multiplications, words to jump."""
    if lines[0].startswith(("LD", "ST")):
        return 1, {"memory": len(lines)}, 0, None
    if lines[0].startswith("TEX"):
        return 1, {"texture": 1}, 0, None
    macs = 0
    for line in lines:
        found = re.match(r"\w+\.(?:FMUL|FMA)\.(f16|f32)\S* [A-Z]+\d+(?:\.([xyzwabcdefgh]+))?,", line)
        if found:
            macs += len(found[2]) if found[2] else 4 if found[1] == "f32" else 8
        dot = re.match(r"\w+\.FDOT(\d)\.f", line)
        if dot:
            macs += int(dot[1])
    return _midgard_words(lines), {"arithmetic": 1}, macs, _number(r"(?:br|jmp)\S* ([-+]\d+)", "\n".join(lines))


def _midgard_rows(bundles):
    """Jumps count words. What jumps out of a loop is skipped in all trips but the last: it costs nothing."""
    ends = [0]
    for words, _, _, _ in bundles:
        ends.append(ends[-1] + words)
    rows, skipped = [], None
    for i, (_, cost, macs, jump) in enumerate(bundles):
        where = None if jump is None else ends[i + 1] + jump
        is_exit = jump is not None and jump > 0 and skipped == i + 1  # the jump before skips this one
        skipped = where and min(range(len(ends)), key=lambda k: abs(ends[k] - where))
        rows.append(Instruction({} if is_exit else cost, macs, skipped))
    return rows


def midgard(lines, _stats):
    """An instruction is a bundle."""
    bundles, bundle = [], []
    for line in lines:
        if line.startswith(("}", "\t", "block")):  # an intermediate form
            bundles, bundle = [], []
        elif re.match(r"[A-Za-z][\w.]*( |$)", line) and not line.startswith(("writeout", "break", "shader:")):
            bundle.append(line)
        elif not line.strip() and bundle:
            bundles.append(_midgard_bundle(bundle))
            bundle = []
    return _midgard_rows(bundles)


# ---- VideoCore VI (Raspberry Pi 4) -----------------------------------------------------------------------------------


def _videocore_rows(lines):
    rows, labels = [], {}
    for line in lines:
        found = re.match(r"0x[0-9a-f]{16} (.*)", line)
        if not found:
            continue
        text = found[1]
        cost = {"issue": 1}
        if re.search(r"\btmu(s|sf|scm|slod|a|au)\b", text):
            cost["tmu"] = 1  # textures, uniform blocks and spilled registers
        macs = 2 if "vfmul" in text else 1 if re.search(r"\bfmul\b", text) else 0
        offset = _number(r"^bu?\b\S*\s+(-?\d+)", text)
        jump = None if offset is None else len(rows) + 4 + offset // 8
        rows.append((cost, macs, jump))
        labels[jump] = jump
    return _resolve(rows, labels)


def videocore(lines, stats):
    """Of several attempts with other ways to spill the compiler keeps one: that of the length that it tells."""
    starts = [i for i, line in enumerate(lines) if "QPU:" in line] + [len(lines)]
    attempts = [_videocore_rows(lines[a:b]) for a, b in zip(starts, starts[1:])]
    return next((rows for rows in attempts if len(rows) == stats.instructions), attempts[-1] if attempts else [])


# ---- Adreno ----------------------------------------------------------------------------------------------------------

IR3_SFU = ("rcp", "rsq", "log2", "exp2", "sin", "cos", "sqrt", "hrsq", "hlog2", "hexp2")
IR3_TEXTURE = ("isam", "sam", "getsize", "gather", "getinfo", "dsx", "dsy")
IR3_MEMORY = ("ld", "st", "atomic", "resinfo")
IR3_NONE = ("end", "br", "jump", "nop", "bary", "shps", "shpe", "getone")


def _ir3_cost(opcode, text):
    if opcode == "nop":
        return {"arithmetic": 1}
    if opcode.startswith(IR3_SFU):
        return {"special": 1}
    if opcode.startswith(IR3_TEXTURE):
        return {"texture": 1}
    if opcode.startswith(IR3_MEMORY):
        return {"memory": 1}
    if opcode.startswith(IR3_NONE):
        return {"arithmetic": 1}
    half = re.match(r"\S+ (\(\w+\))*hr\d", text)
    return {"arithmetic": 0.5 if half else 1}


def adreno(lines, _stats):
    """What runs once for all fragments, between shps and shpe, costs nothing."""
    rows, labels, shared = [], {}, False
    for line in lines:
        text = line.removeprefix("MESA: info: ").strip()
        if text.startswith("Native code"):
            rows, labels = [], {}
        label = re.fullmatch(r"l(\d+):", text)
        if label:
            labels["l" + label[1]] = len(rows)
        text = re.sub(r"^(:\d:\S*\[\S*\] )?", "", text)
        repeat = _number(r"\(rpt(\d)\)", text)
        found = re.match(r"(?:\(\w+\))*([a-z][a-z0-9]*)(\.\S*)?( |$)", text)
        if not found or text.startswith(("decl_", "impl", "shader")):
            continue
        opcode = found[1]
        bare = re.sub(r"^(\(\w+\))*", "", text)
        shared = opcode == "shps" or (shared and opcode != "shpe")
        times = 1 + (repeat or 0)
        cost = {} if shared or opcode == "shpe" else {u: n * times for u, n in _ir3_cost(opcode, bare).items()}
        macs = times if re.match(r"(mul\.f|mad\.f)", bare) and not shared else 0
        jump = re.search(r"^(?:br|jump)\S* .*#(l\d+)", bare)
        rows.append((cost, macs, jump and jump[1]))
    return _resolve(rows, labels)


# ---- Intel -----------------------------------------------------------------------------------------------------------


def _intel_cost(opcode, width, lanes, text, message):
    if opcode.startswith("send"):
        unit = "texture" if "sampler" in message else "memory" if "data" in message else ""
        return {unit: width / lanes} if unit else {}
    share = width / lanes
    if opcode == "math":
        return {"arithmetic": 4 * share}
    half = re.search(r"^\S+(?:\(\S+\))?\s+g\d+\S*<\d>HF", text)
    return {"arithmetic": share / 2 if half else share}


def intel(lines, _stats):
    """Of the widths that a fragment program is compiled for, the last one printed."""
    rows, starts, lanes, block, loops = [], {}, 8, 0, False
    for at, line in enumerate(lines):
        width = re.match(r"SIMD(\d+) shader:", line)
        if width:
            rows, starts, lanes = [], {}, int(width[1])
        start = re.match(r"\s+START B(\d+)", line)
        if start:
            starts[int(start[1])] = len(rows)
        end = re.match(r"\s+END B(\d+)((?: ->B\d+)*)", line)
        if end and loops:
            heads = [int(b) for b in re.findall(r"->B(\d+)", end[2]) if int(b) <= int(end[1])]
            if heads and rows:
                rows[-1] = rows[-1][:2] + (min(heads),)
            loops = False
        found = re.match(r"(?:\(\S+\) )?([a-z]+)\S*\((\d+)\)\s", line)
        if not found:
            continue
        message = lines[at + 1] if at + 1 < len(lines) and "MsgDesc" in lines[at + 1] else ""
        opcode, width = found[1], int(found[2])
        cost = _intel_cost(opcode, width, lanes, line, message)
        floats = opcode in ("mad", "mul", "mac", "pln") and re.search(r"<\d>H?F\b", line)
        rows.append((cost, width / lanes if floats else 0, None))
        loops = opcode == "while"
    return _resolve(rows, starts)


# ---- AMD, GCN --------------------------------------------------------------------------------------------------------


def _gcn_cost(opcode):
    if opcode.startswith(("image_", "buffer_load_format")):
        return {"texture": 1}
    if opcode.startswith(("buffer_", "scratch_", "flat_", "global_", "ds_")):
        return {"memory": 1}
    if opcode.startswith(("v_rcp", "v_rsq", "v_exp", "v_log", "v_sqrt", "v_mul_lo", "v_mul_hi")):
        return {"arithmetic": 4}
    return {"arithmetic": 1} if opcode.startswith("v_") else {}


def gcn(lines, _stats):
    rows, labels = [], {}
    for line in lines:
        label = re.match(r"(BB\d+_\d+|_?L\w+):", line)
        if label:
            labels[label[1]] = len(rows)
        found = re.match(r"\s+([a-z]+_[a-z0-9_]+)( |$)", line)
        if not found:
            continue
        macs = 1 if re.match(r"v_(mul|mac|mad|fma|fmac)(_legacy)?_f(16|32)", found[1]) else 0
        jump = re.search(r"s_c?branch\S* \.?L?(BB\w+|_L\w+)", line)
        rows.append((_gcn_cost(found[1]), macs, jump and jump[1]))
    return _resolve(rows, labels)
