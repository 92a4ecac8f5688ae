// A GEMM of few pixels, for GPUs: sliced-K. The STEPS invocations of a workgroup compute one region of PIXELS pixels by
// u.gemm.region_tiles tiles, a power of two; each sums up some steps of PIXELS pixels by one tile, in registers, then they add
// their sums in workgroup memory. There is no second pass for partial sums. Each weight serves few products, so it is not worth
// a place in workgroup memory; those of the next step are read, for their latency, while a step is multiplied. Loops are not
// unrolled: such layers run but once, and instructions have to be fetched, too.
const INVOCATIONS = STEPS;
var<workgroup> sums: array<Sum, PIXELS * INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let lane = i32(invocation);
    let log2_tiles = countTrailingZeros(u32(u.gemm.region_tiles));
    let column = lane & (u.gemm.region_tiles - 1);
    let slice = lane >> log2_tiles;
    let slices = INVOCATIONS >> log2_tiles;
    let number = i32(group.y * groups.x + group.x); // groups are folded in two dimensions
    let pixel_number = number / u.gemm.tile_regions;
    let batch = pixel_number / u.gemm.pixel_regions;
    let first_tile = (number - pixel_number * u.gemm.tile_regions) << log2_tiles;
    let first_pixel = (pixel_number - batch * u.gemm.pixel_regions) * PIXELS;
    if (batch >= u.gemm.batches) {
        return;
    }
    let tile = min(first_tile + column, u.gemm.tiles - 1);
#for p PIXELS
    let pixel$p = prepare(batch, min(first_pixel + $p, u.gemm.pixels - 1));
    var sum$p_0 = Sum();
#endfor
    let last = u.gemm.steps - 1;
    var step = slice;
#for t 1
#for c 4
    var next$c = right(batch, 4 * min(step, last) + $c, tile);
#endfor
    for (; step <= last; step += slices) {
        let at = place(step);
#for c 4
        let w$t_$c = unpack(next$c, batch, 4 * step + $c, tile);
        next$c = right(batch, 4 * min(step + slices, last) + $c, tile);
#endfor
#for p PIXELS
        let a$p = left(texel_of(texel(pixel$p, at.xy), at));
#endfor
#for c 4
#for p PIXELS
#include gemm_product
#endfor
#endfor
    }
#endfor
#for p PIXELS
    sums[$p * INVOCATIONS + lane] = sum$p_0;
#endfor
    for (var half = INVOCATIONS / 2; half >= u.gemm.region_tiles; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
#for p PIXELS
            sums[$p * INVOCATIONS + lane] += sums[$p * INVOCATIONS + lane + half];
#endfor
        }
    }
    workgroupBarrier();
    let pixel = first_pixel + slice;
    if (lane < PIXELS << log2_tiles && pixel < u.gemm.pixels && first_tile + column < u.gemm.tiles) {
        keep(batch, 0, pixel, tile, vec4f(sums[slice * INVOCATIONS + column]));
    }
}
