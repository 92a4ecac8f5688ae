// A step to the reduction of an image: each workgroup reduces a large region. Every invocation combines each LANES-th texel.
//   factor   of the result
#include lanes
#include combine

alias Lane = vec4f;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = i32(group.y * groups.x + group.x);
    if (o >= u.O_texels) { // groups are folded in two dimensions
        return;
    }
    let p = O_position(o);
    let lane = i32(invocation);
    let region = vec2i(u.region.rows, u.region.columns);
    let start = p.zw * region;
    let size = min(start + region, u.X_size.zw) - start;
    let k = p.x * u.X_tiles + p.y;
    var total = nothing();
    for (var i = lane; i < size.x * size.y; i += LANES) {
        let row = i / size.y;
        total = combine(total, mapped(X_fetch(k, start.x + row, start.y + i - row * size.y)));
    }
    let all = combine_lanes(lane, total);
    if (lane == 0) {
        store(p.x, p.y, p.z, p.w, all * u.factor);
    }
}
