// A step to softmax's sums: each workgroup reduces a large region. Every invocation combines each LANES-th texel.
#include exp_sum
#include lanes

alias Lane = Sum;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = RESULTS * i32(group.y * groups.x + group.x);
    if (o >= u.O_texels) { // groups are folded in two dimensions
        return;
    }
    let p = O_position(o);
    let lane = i32(invocation);
    let start = region_start(p);
    let size = region_size(start);
    var total = NOTHING;
    for (var i = lane; i < size.x * size.y * size.z * size.w; i += LANES) {
        let row = i / size.w;
        let plane = row / size.z;
        let image = plane / size.y;
        total = combine(total, element(start.x + image, start.y + plane - image * size.y,
                                       start.z + row - plane * size.z, start.w + i - row * size.w));
    }
    let all = combine_lanes(lane, total);
    if (lane == 0) {
        keep(p, all);
    }
}
