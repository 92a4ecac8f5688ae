// A reduction of large blocks: a workgroup takes one, in a single pass. Every invocation combines each LANES-th texel.
#include reduction
#include lanes

alias Lane = vec4f;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = i32(group.y * groups.x + group.x);
    if (o >= u.O_grid.y) { // groups are folded in two dimensions
        return;
    }
    let p = O_position(o);
    let lane = i32(invocation);
    let start = p * u.block;
    let size = min(start + u.block, vec4i(u.A_size.x, u.A_grid.x, u.A_size.zw)) - start;
    let b = subtracted(p.x, p.y, p.z, p.w);
    var total = vec4f(NEUTRAL);
    for (var i = lane; i < size.x * size.y * size.z * size.w; i += LANES) {
        let row = i / size.w;
        let plane = row / size.z;
        let image = plane / size.y;
        let tile = start.y + plane - image * size.y;
        let k = (start.x + image) * u.A_grid.x + tile;
        let v = A_fetch(k, start.z + row - plane * size.z, start.w + i - row * size.w);
        total = add_tile(total, mapped(v, b), tile);
    }
    let all = combine_lanes(lane, total);
    if (lane == 0) {
        store(p.x, p.y, p.z, p.w, finished(all));
    }
}
