// A step to mean and variance: each workgroup reduces a large region. Every invocation combines each LANES-th pixel of
// the source.
#include moment
#include lanes

alias Lane = Moments;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = 2 * i32(group.y * groups.x + group.x);
    if (o >= u.O_texels) { // groups are folded in two dimensions
        return;
    }
    let p = O_position(o);
    let lane = i32(invocation);
    let k = p.x * u.X_tiles + p.y;
    let start = region_start(p.z, p.w / 2);
    let size = region_size(start);
    let origin = read_origin(k, start.x, start.y);
    var total = Moments(0.0, vec4f(), vec4f());
    for (var i = lane; i < size.x * size.y; i += LANES) {
        let row = i / size.y;
        total = combine(total, read_pixel(k, start.x + row, start.y + i - row * size.y, origin));
    }
    let all = combine_lanes(lane, total);
    if (lane == 0) {
        keep(p, origin, all);
    }
}
