// One step to the mean of an image: each invocation adds up a block of the input, row by row.
//   u.block     rows, columns of one
//   u.factor    x: of the sum
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = i32((group.y * groups.x + group.x) * 64 + invocation); // groups are folded in two dimensions
    if (o >= u.O_grid.y) {
        return;
    }
    let p = O_position(o);
    let begin = p.zw * u.block.xy;
    let end = min(begin + u.block.xy, u.A_size.zw);
    var total = vec4f();
    for (var y = begin.x; y < end.x; y++) {
        let row = ((p.x * u.A_grid.x + p.y) * u.A_size.z + y) * u.A_size.w;
        var sum = vec4f();
        for (var i = row + begin.y; i < row + end.y; i++) {
            sum += A_load(i);
        }
        total += sum;
    }
    store(p.x, p.y, p.z, p.w, total * u.factor.x);
}
