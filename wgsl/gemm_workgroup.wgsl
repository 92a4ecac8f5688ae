// A GEMM through workgroup memory, for GPUs. A workgroup of COLUMNS x ROWS invocations computes a region of ROWS * PIXELS
// pixels by COLUMNS * TILES tiles of four channels; an invocation PIXELS by TILES of them, in registers. STEPS steps of both
// matrices at a time are in workgroup memory, where each texel is read many times. Split-K: wgsl/split_k_sum.wgsl adds up
// the partial sums.
//   gemm.batches    GEMMs of these sizes: one for each group of channels, phase, or image of a batch
// For left() and right() see wgsl/gemm.wgsl.
const INVOCATIONS = COLUMNS * ROWS;
const REGION_PIXELS = ROWS * PIXELS;
const REGION_TILES = COLUMNS * TILES;
const LANE_STRIDE = INVOCATIONS / REGION_PIXELS; // each invocation reads one pixel: COLUMNS is a multiple of PIXELS
const LEFTS = STEPS / LANE_STRIDE; // of an invocation
const ROW_STRIDE = INVOCATIONS / REGION_TILES; // and one tile
const RIGHTS = (STEPS * 4 + ROW_STRIDE - 1) / ROW_STRIDE;
var<workgroup> left_shared: array<Left, STEPS * REGION_PIXELS>;
var<workgroup> right_shared: array<Weights, STEPS * 4 * REGION_TILES>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let lane = i32(invocation);
    let number = i32(group.y * groups.x + group.x); // groups are folded in two dimensions
    let pixel_number = number / u.gemm.tile_regions;
    let partial_number = pixel_number / u.gemm.pixel_regions;
    let first_tile = (number - pixel_number * u.gemm.tile_regions) * REGION_TILES;
    let first_pixel = (pixel_number - partial_number * u.gemm.pixel_regions) * REGION_PIXELS;
    let batch = partial_number / u.gemm.partials;
    if (batch >= u.gemm.batches) {
        return;
    }
    let partial = partial_number - batch * u.gemm.partials;
    let end = min((partial + 1) * u.gemm.partial_steps, u.gemm.steps);

    let read_pixel = lane % REGION_PIXELS;
    let read_step = lane / REGION_PIXELS;
    let readable = first_pixel + read_pixel < u.gemm.pixels;
    let pixel = prepare(batch, first_pixel + read_pixel);
    let read_tile = min(first_tile + lane % REGION_TILES, u.gemm.tiles - 1);
    let read_row = lane / REGION_TILES;

    let column = lane % COLUMNS;
    let row = lane / COLUMNS;
#for p PIXELS
#for t TILES
    var sum$p_$t = Sum();
#endfor
#endfor
    // Steps are read, for their latency, while those before them are multiplied; unpacked later, which waits for them.
    var next_left: array<Left, LEFTS>;
    var next_right: array<Packed, RIGHTS>;
    let begin = partial * u.gemm.partial_steps;
    var at = place(begin + read_step);
    var tap = texel(pixel, at.xy);
    for (var step = begin;; step += STEPS) {
        if (step < end) {
            for (var i = 0; i < LEFTS; i++) {
                next_left[i] = Left();
                if (readable && step + read_step + i * LANE_STRIDE < end) {
                    next_left[i] = left(texel_of(tap, at));
                }
                let next = advance(at, LANE_STRIDE);
                if (any(next.xy != at.xy)) {
                    tap = texel(pixel, next.xy);
                }
                at = next;
            }
            for (var i = 0; i < RIGHTS; i++) {
                next_right[i] = Packed();
                let r = read_row + i * ROW_STRIDE;
                if (r < STEPS * 4 && step + r / 4 < end) {
                    next_right[i] = right(batch, 4 * step + r, read_tile);
                }
            }
        }
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
