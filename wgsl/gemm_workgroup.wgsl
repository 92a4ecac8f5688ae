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
var<workgroup> left_shared: array<Left, STEPS * REGION_PIXELS>;
var<workgroup> right_shared: array<Right, STEPS * 4 * REGION_TILES>;

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

    let column = lane % COLUMNS;
    let row = lane / COLUMNS;
#for p PIXELS
#for t TILES
    var sum$p_$t = Sum();
#endfor
#endfor
    for (var step = partial * u.gemm.partial_steps; step < end; step += STEPS) {
        for (var i = 0; i < STEPS; i += LANE_STRIDE) {
            var v = Left();
            if (readable && step + read_step + i < end) {
                v = left(pixel, place(step + read_step + i));
            }
            left_shared[(read_step + i) * REGION_PIXELS + read_pixel] = v;
        }
        for (var i = lane; i < STEPS * 4 * REGION_TILES; i += INVOCATIONS) {
            let r = i / REGION_TILES;
            let tile = first_tile + i % REGION_TILES;
            var v = Right();
            if (tile < u.gemm.tiles && step + r / 4 < end) {
                v = right(batch, 4 * step + r, tile);
            }
            right_shared[i] = v;
        }
        workgroupBarrier();
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
