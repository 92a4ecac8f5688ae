"""What tools/phones reads, on a few recorded lines of each compiler. Its argument: the folder tools/phones."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))

import estimate  # noqa: E402
import expected  # noqa: E402
import gpus  # noqa: E402
import tiles  # noqa: E402
import trace  # noqa: E402

PASS = ("tessera: pass: program {}, kernel {}, 64 fragments, 4 targets of 16 bits, 1 draws, 3 to 4 channels, 1000 bytes read, "
        "200 bytes written, node {}, 480 multiply-adds, 'a, (b)' (Conv)")

BIFROST = """name: GLSL{}
clause_0:
{{
    *FMA.f32 r0, u0, u1, #0.neg
    +MOV.i32 r1, #0
}}
clause_1:
{{
    *FMA.f32 r0, r1, r2, r0
    +LOAD.i128 r4:t1, t0, t1
    *FMA.v2f16 r0, r1, r2, r0
    +NOP t1
    *NOP t0
    +JUMP t1, clause_1
}}
SHADER-DB: MESA_SHADER_FRAGMENT shader: 6 inst, 4 tuples, 2 clauses, 1 cycles, 2 quadwords, 2 threads, 0 preloads, 1 loops, 3:5 spills:fills"""

VALHALL = """name: GLSL{}
} -> block1
   MOV.i32 r0, 0x0
   FMA.f32 r1, r2, r3, ^r1
   TEX_FETCH.slot0.f.2d @r0, r1
   BRANCHZ.eq.reconverge 0x0, offset:-3
   BLEND.slot1.v4.f32.end @r0, r60
SHADER-DB: MESA_SHADER_FRAGMENT shader: 5 inst, 1 cycles, 2 threads, 1 loops, 0:0 spills:fills"""

MIDGARD = """name: GLSL{}
}
vmul.MOV.i32 R0, TMP0.x, #0

LD_UBO.128 R9.xyzw, AL0.y

vmul.FMUL.f32 TMP0, R7.xxxx, R10
vadd.FADD.f32 R8, R8, TMP0
brx.reserved.cond.always -3 -> ldst

writeout
SHADER-DB: MESA_SHADER_FRAGMENT shader: 5 inst, 3 bundles, 4 quadwords, 9 registers, 1 threads, 1 loops, 0:1 spills:fills"""

# The same loop, left by a jump that the one before it skips.
MIDGARD_EXIT = MIDGARD.replace("LD_UBO", """smul.CMP.le.i32 R31.w, R5.z, R6.w
brx.reserved.cond.false +1 -> ldst

brx.reserved.cond.always +3 -> alu/4

LD_UBO""").replace("always -3 -> ldst", "always -5 -> alu/4")

VIDEOCORE = """MESA_SHADER_FRAGMENT prog 1/1 QPU:
0x3c003186bb800000 nop                           ; nop

MESA_SHADER_FRAGMENT prog 1/1 QPU:
0x3c0032c6bbf803c0 nop                           ; mov rf1, rf15
0x74003106bbf805c9 add tmua, r0, r1              ; fmul r4, rf23.h, rf9
0x02ffe698ff00d000 bu  -40, r:unif (0xfffffd34 / -nan)
0x3c003186bb800000 nop                           ; nop

SHADER-DB-GLSL{} - MESA_SHADER_FRAGMENT shader: 4 inst, 2 threads, 1 loops, 3 uniforms, 9 max-temps, 1:2 spills:fills, 0 nops"""

ADRENO = """MESA: info: Native code for unnamed FRAG shader GLSL{} with sha1 9ba1:
MESA: info: shps #l2
MESA: info: mul.f r0.x, r0.y, r0.z
MESA: info: shpe
MESA: info: l3:
MESA: info: (rpt1)mad.f32 r0.w, r1.x, r1.y, r0.w
MESA: info: (sy)mul.f hr0.x, hr0.y, hr0.z
MESA: info: isam.a (f32)(xyzw)r0.x, r1.x, s#0, t#0
MESA: info: jump #l3
MESA: info: ; FRAG prog 6/1: 7 instr, 0 nops, 7 non-nops, 0 mov, 0 cov, 16 dwords
MESA: info: ; FRAG prog 6/1: 0 last-baryf, 0 half, 24 full, 88 constlen
MESA: info: ; FRAG prog 6/1: 0 sstall, 10 (ss), 78 systall, 2 (sy), 1 loops"""

INTEL = """Native code for unnamed fragment shader GLSL{} (sha1 098b)
SIMD16 shader: 5 instructions. 1 loops. 99 cycles. 18:20 spills:fills, 1 sends, scheduled with mode lifo.
   START B0 (20 cycles)
mov(16)         g46<1>D         g45<8,8,1>F                     {{ align1 1H compacted }};
   END B0 ->B1
   START B1 <-B0 <-B1 (20 cycles)
mad(16)         g37<1>F         g10.5<0,1,0>F   g10.4<0,1,0>F   g36<4,4,1>F {{ align16 1H }};
mul(8)          g61<1>D         g46<8,8,1>D     g5<0,1,0>D      {{ align1 1Q }};
send(16)        g2<1>UW         g49<0,1,0>UD    0x021802fd
                            sampler MsgDesc: ld SIMD16 Surface = 4 Sampler = 0 mlen 3 rlen 8 {{ align1 1H }};
while(16)       JIP:  LABEL2                                    {{ align1 1H }};
   END B1 ->B1 ->B2
   START B2 <-B1 (20 cycles)
   END B2"""

GCN = """SHADER KEY
BB0_0:
\tv_mov_b32_e32 v0, s0                           ; 3006060C
BB0_1:
\tv_mac_f32_e32 v1, v2, v3                       ; 3006060C
\timage_load v[8:11], v[2:3], s[20:27] dmask:0xf unorm    ; F0001F00 00050802
\ts_cbranch_scc0 .LBB0_1                         ; BF840000
\ts_endpgm
VGPRS: 24
Spilled VGPRs: 7
Max Waves: 9"""

# GPU, what is printed, instructions, spills, fills, cost of 10 multiply-adds, trips
SAMPLES = [
    ("mali-g52", BIFROST, 6, 3, 5, {"arithmetic": 1 + 2 * 10 / 3 + 10 / 3, "memory": 10 / 3}, 10 / 3),
    ("mali-g57", VALHALL, 5, 0, 0, {"convert": 11, "fma": 10, "texture": 10}, 10),
    ("mali-t860", MIDGARD, 5, 0, 1, {"arithmetic": 3.5, "memory": 2.5}, 2.5),
    ("mali-t860", MIDGARD.replace("FMUL.f32 TMP0, R7.xxxx, R10", "FDOT4.f32 TMP0.x, R7, R10"), 5, 0, 1,
     {"arithmetic": 3.5, "memory": 2.5}, 2.5),
    ("mali-t860", MIDGARD_EXIT, 5, 0, 1, {"arithmetic": 6, "memory": 2.5}, 2.5),
    ("pi4", VIDEOCORE, 4, 1, 2, {"issue": 22, "tmu": 10}, 10),
    ("adreno-630", ADRENO, 7, 0, 0, {"arithmetic": 3.5 * 10 / 3, "texture": 10 / 3}, 10 / 3),
    ("intel-skl", INTEL, 5, 18, 20, {"arithmetic": 26, "texture": 10}, 10),
    ("radeonsi", GCN, 5, 7, 0, {"arithmetic": 11, "texture": 10}, 10),
]


def traced(gpu, text):
    log = trace.Log(gpu.family, gpu.read)
    for line in text.split("\n"):
        log.add(line)
    return log.finish()


def sample(text, program):
    return text.replace("GLSL{}", f"GLSL{program}").replace("{{", "{").replace("}}", "}")


def job(pre_frame, targets, bits):
    """As pandecode prints a fragment job of 2 x 3 tiles; its frame has bounds, too, in pixels."""
    frame = f"    Pre Frame 0: {pre_frame}\n" if pre_frame else ""
    return (f"  Type: Fragment\n{frame}    Bound Min X: 0\n    Bound Min Y: 0\n    Bound Max X: 63\n    Bound Max Y: 99\n"
            f"    Render Target Count: {targets}\n" + f"    Writeback Format: RAW{bits}\n" * targets +
            "  Bound Min X: 1\n  Bound Min Y: 4\n  Bound Max X: 2\n  Bound Max Y: 6\n")


class Samples(unittest.TestCase):
    def test_listings(self):
        for name, text, instructions, spills, fills, cost, trips in SAMPLES:
            with self.subTest(name):
                [(_, program)] = traced(gpus.GPUS[name], PASS.format(3, "conv_direct", 0) + "\n" + sample(text, 3))
                stats = program.stats
                self.assertEqual((stats.instructions, stats.spills, stats.fills), (instructions, spills, fills))
                found, found_trips = estimate.fragment_cost(program.instructions, 10)
                self.assertAlmostEqual(found_trips, trips)
                self.assertEqual(set(found), set(cost))
                for unit, count in cost.items():
                    self.assertAlmostEqual(found[unit], count, msg=unit)

    def test_programs_of_passes(self):
        """Compiled before the passes are drawn, in another order, and again for the second."""
        other = sample(BIFROST, 6).replace("6 inst", "7 inst")
        again = sample(BIFROST, 3).replace("6 inst", "8 inst")
        text = "\n".join([other, sample(BIFROST, 3), PASS.format(3, "conv_direct", 0), PASS.format(3, "copy", 1), again,
                          PASS.format(6, "copy", 2)])
        found = traced(gpus.GPUS["mali-g52"], text)
        self.assertEqual([(p.node, p.name, program.stats.instructions) for p, program in found],
                         [(0, "a, (b)", 6), (1, "a, (b)", 8), (2, "a, (b)", 7)])

    def test_estimate(self):
        gpu = gpus.GPUS["mali-g52"]
        text = "\n".join([sample(BIFROST, 3), PASS.format(3, "conv_direct", 0)])
        [e] = estimate.estimates(traced(gpu, text), gpu.chip)
        self.assertAlmostEqual(e.cycles["memory"], 10 / 3)  # 640 multiply-adds with the padding, 3 in the loop
        self.assertAlmostEqual(e.per_mac, 4 / 9)
        self.assertAlmostEqual(e.ms["memory"], 64 * 10 / 3 / (2 * 850e3))
        self.assertAlmostEqual(e.ms["bandwidth"], 1200 / 14.4e6)
        self.assertEqual(e.bound, "memory")

    def test_trips_of_draws(self):
        """A draw that replay.c repeats tells how often its loop runs, and has no multiply-adds."""
        gpu = gpus.GPUS["mali-g52"]
        line = PASS.format(3, "program3", 0).replace("480 multiply-adds", "0 multiply-adds, 10 trips")
        [(p, program)] = traced(gpu, sample(BIFROST, 3) + "\n" + line)
        self.assertEqual((p.trips, p.macs, p.name), (10, 0, "a, (b)"))
        [e] = estimate.estimates([(p, program)], gpu.chip)
        self.assertEqual((e.trips, e.per_mac), (10, None))
        self.assertAlmostEqual(e.cycles["memory"], 10)

    def test_expected(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "expected.csv")
            expected.write({("pi4", "conv"): (3, 0.5), ("pi4", "copy"): (0, None)}, path)
            table = expected.read(path)
        self.assertEqual(expected.violations({("pi4", "conv"): (3, 0.505), ("pi4", "copy"): (0, None)}, table), [])
        worse = expected.violations({("pi4", "conv"): (4, 0.6), ("pi4", "copy"): (1, None), ("pi4", "new"): (0, None)}, table)
        self.assertEqual(len(worse), 4)

    def test_tiles(self):
        """Two jobs with draws, the first of which is loaded, after one that only clears; on Midgard by a strip."""
        bifrost = "".join([job("Never", 1, 128), "Draw mode: Triangles\n" * 2, job("Intersect", 4, 64),
                           "Draw mode: Triangles\n", job("Never", 1, 32)])
        midgard = "".join(["Draw mode: Triangles\n  Draw mode: Triangle strip\n", job(None, 4, 64), job(None, 2, 64),
                           "Draw mode: Triangles\n", job(None, 1, 32)])
        for text in bifrost, midgard:
            counts = tiles.mali(text.splitlines(), 3)
            self.assertEqual(counts, tiles.Counts(2, 1, 4 * 6 * 256 * 8 // 1024, (4 * 8 + 4) * 6 * 256 // 1024, 3))
        text = "x\nMESA: info: batch_total=73, batch_sysmem=24, batch_gmem=22, batch_nondraw=27, batch_restore=13\n0"
        self.assertEqual(tiles.adreno(text.splitlines()), tiles.Counts(46, 13, None, None, None))

    def test_expected_tiles(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "expected.csv")
            most = {("mali", "a"): tiles.Counts(9, 3, 20, 30, 1), ("adreno", "a"): tiles.Counts(9, 3, None, None, None)}
            tiles.write(most, path)
            table = tiles.read(path)
        self.assertEqual(table, most)
        self.assertEqual(tiles.violations({("mali", "a"): tiles.Counts(9, 2, 20, 29, 1)}, table), [])
        worse = {("mali", "a"): tiles.Counts(9, 4, 20, 31, 2), ("adreno", "a"): tiles.Counts(10, 3, None, None, None),
                 ("adreno", "b"): tiles.Counts(1, 0, None, None, None)}
        self.assertEqual(len(tiles.violations(worse, table)), 5)


unittest.main()
