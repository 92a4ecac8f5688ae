// A step to mean and variance: each invocation reduces a region of the source.
#include moment

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = 2 * i32((group.y * groups.x + group.x) * 64 + invocation); // groups are folded in two dimensions
    if (o >= u.O_texels) {
        return;
    }
    let p = O_position(o);
    let k = p.x * u.X_tiles + p.y;
    let start = region_start(p.z, p.w / 2);
    let end = start + region_size(start);
    let origin = read_origin(k, start.x, start.y);
    var total = Moments(0.0, vec4f(), vec4f());
    for (var y = start.x; y < end.x; y++) {
        var line = Moments(0.0, vec4f(), vec4f());
        for (var x = start.y; x < end.y; x++) {
            line = combine(line, read_pixel(k, y, x, origin));
        }
        total = combine(total, line);
    }
    keep(p, origin, total);
}
