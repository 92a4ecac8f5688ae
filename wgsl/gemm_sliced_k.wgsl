// A GEMM of few pixels, for GPUs: sliced-K. The invocations of a workgroup compute one region of PIXELS pixels by COLUMNS tiles;
// each sums up every STEPS-th step of PIXELS pixels by one tile, in registers, then they add their sums in workgroup memory.
// There is no second pass for partial sums. Each weight serves few products, so it is not worth a place in workgroup memory;
// those of four steps are loaded at once, for their latency, and each of the four has sums of its own. The other parameters
// are those of wgsl/gemm_workgroup.wgsl.
const INVOCATIONS = COLUMNS * STEPS;
var<workgroup> sums: array<Sum, PIXELS * INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let lane = i32(invocation);
    let number = i32(group.y * groups.x + group.x); // groups are folded in two dimensions
    let pixel_number = number / u.gemm.tile_regions;
    let batch = pixel_number / u.gemm.pixel_regions;
    let first_tile = (number - pixel_number * u.gemm.tile_regions) * COLUMNS;
    let first_pixel = (pixel_number - batch * u.gemm.pixel_regions) * PIXELS;
    if (batch >= u.gemm.batches) {
        return;
    }
    let tile = min(first_tile + lane % COLUMNS, u.gemm.tiles - 1);
#for p PIXELS
    let pixel$p = prepare(batch, min(first_pixel + $p, u.gemm.pixels - 1));
#for t 4
    var sum$p_$t = Sum();
#endfor
#endfor
    var step = lane / COLUMNS;
    for (; step + 3 * STEPS < u.gemm.steps; step += 4 * STEPS) {
#for t 4
#for c 4
        let w$t_$c = weights(batch, 4 * (step + $t * STEPS) + $c, tile);
#endfor
#endfor
#for t 4
        {
            let at = place(step + $t * STEPS);
#include gemm_sliced_step
        }
#endfor
    }
    for (; step < u.gemm.steps; step += STEPS) {
        let at = place(step);
#for t 1
#for c 4
        let w$t_$c = weights(batch, 4 * step + $c, tile);
#endfor
#include gemm_sliced_step
#endfor
    }
#for p PIXELS
    sums[$p * INVOCATIONS + lane] = sum$p_0 + sum$p_1 + sum$p_2 + sum$p_3;
#endfor
    for (var half = INVOCATIONS / 2; half >= COLUMNS; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
#for p PIXELS
            sums[$p * INVOCATIONS + lane] += sums[$p * INVOCATIONS + lane + half];
#endfor
        }
    }
    workgroupBarrier();
    let pixel = first_pixel + lane / COLUMNS;
    if (lane < PIXELS * COLUMNS && pixel < u.gemm.pixels && first_tile + lane % COLUMNS < u.gemm.tiles) {
        keep(batch, 0, pixel, tile, vec4f(sums[lane / COLUMNS * INVOCATIONS + lane % COLUMNS]));
    }
}
