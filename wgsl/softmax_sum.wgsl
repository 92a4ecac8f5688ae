// A step to softmax's sums: each invocation reduces a region of the source, row by row.
//   PIXELS    0: a region is one pixel, so that only tiles are looped over
#include exp_sum

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = RESULTS * i32((group.y * groups.x + group.x) * 64 + invocation); // groups are folded in two dimensions
    if (o >= u.O_texels) {
        return;
    }
    let p = O_position(o);
    let start = region_start(p);
    let end = start + region_size(start);
    var total = NOTHING;
    for (var tile = start.y; tile < end.y; tile++) {
#if PIXELS
        for (var image = start.x; image < end.x; image++) {
            for (var y = start.z; y < end.z; y++) {
                for (var x = start.w; x < end.w; x++) {
                    total = combine(total, element(image, tile, y, x));
                }
            }
        }
#else
        total = combine(total, element(start.x, tile, start.z, start.w));
#endif
    }
    keep(p, total);
}
