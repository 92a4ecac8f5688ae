// A GEMM through workgroup memory, for GPUs. A workgroup of COLUMNS x ROWS invocations computes a region of ROWS * PIXELS
// pixels by COLUMNS * TILES tiles of four channels; an invocation PIXELS by TILES of them, in registers. STEPS steps of both
// matrices at a time are in workgroup memory, where each texel is read many times. Split-K: wgsl/split_k_sum.wgsl adds up
// the partial sums.
//   gemm.batches    GEMMs of these sizes: one for each group of channels, phase, or image of a batch
// For left() and right() see wgsl/gemm.wgsl.
const INVOCATIONS = COLUMNS * ROWS; // COLUMNS is a multiple of PIXELS
const REGION_PIXELS = ROWS * PIXELS;
const REGION_TILES = COLUMNS * TILES;
var<workgroup> left_shared: array<Left, STEPS * REGION_PIXELS>;
var<workgroup> right_shared: array<Weights, STEPS * 4 * REGION_TILES>;

#include gemm_begin

    let column = lane % COLUMNS;
    let row = lane / COLUMNS;
#for p PIXELS
#for t TILES
    var sum$p_$t = Sum();
#endfor
#endfor
    // Unpacked after the multiplication: that waits for them.
    var next_left: array<Left, LEFTS>;
    var next_right: array<Packed, RIGHTS>;
    let begin = partial * u.gemm.partial_steps;
    var at = place(begin + read_step);
    var tap = texel(pixel, at.xy);
    for (var step = begin;; step += STEPS) {
#include gemm_read
        if (step > begin) {
            for (var s = 0; s < STEPS; s++) {
#for p PIXELS
                let a$p = left_shared[s * REGION_PIXELS + row + $p * ROWS];
#endfor
#for t TILES
#for c 4
                let w$t_$c = right_shared[(4 * s + $c) * REGION_TILES + column + $t * COLUMNS];
#for p PIXELS
#include gemm_product
#endfor
#endfor
#endfor
            }
        }
        if (step >= end) {
            break;
        }
        workgroupBarrier();
        for (var i = 0; i < LEFTS; i++) {
            left_shared[(read_step + i * LANE_STRIDE) * REGION_PIXELS + read_pixel] = next_left[i];
        }
        for (var i = 0; i < RIGHTS; i++) {
            let r = read_row + i * ROW_STRIDE;
            if (r < STEPS * 4) {
                right_shared[lane + i * INVOCATIONS] = unpack(next_right[i], batch, 4 * step + r, read_tile);
            }
        }
        workgroupBarrier();
    }
    var sums: array<Sum, PIXELS * TILES>; // for a loop, so that keep() is compiled once
#for p PIXELS
#for t TILES
    sums[$p * TILES + $t] = sum$p_$t;
#endfor
#endfor
    for (var i = 0; i < PIXELS * TILES; i++) {
        let pixel = first_pixel + row + i / TILES * ROWS;
        let tile = first_tile + column + i % TILES * COLUMNS;
        if (pixel < u.gemm.pixels && tile < u.gemm.tiles) {
            keep(batch, partial, pixel, tile, vec4f(sums[i]));
        }
    }
}
