// A reduction of large blocks: a workgroup takes one, in a single pass. Every invocation adds up each LANES-th texel,
// then halves of the group are added in workgroup memory, which keeps the rounding error small.
#include reduction

const LANES = 64; // a compiler for CPUs takes a quarter of the time that it takes for 256
var<workgroup> partial: array<vec4f, LANES>;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let o = i32(group.y * groups.x + group.x);
    if (o >= u.O_grid.y) { // groups are folded in two dimensions
        return;
    }
    let p = O_position(o);
    let lane = i32(invocation);
    let start = p.xzw * u.block.xzw;
    let size = min(start + u.block.xzw, u.A_size.xzw) - start; // images, rows, columns
    let first_tile = select(p.y, 0, CHANNELS == 1);
    let tiles = select(1, u.A_grid.x, CHANNELS == 1);
    var total = vec4f(NEUTRAL);
    for (var i = lane; i < size.x * tiles * size.y * size.z; i += LANES) {
        let row = i / size.z;
        let plane = row / size.y;
        let image = plane / tiles;
        let tile = first_tile + plane - image * tiles;
        let v = mapped(start.x + image, tile, start.y + row - plane * size.y, start.z + i - row * size.z);
        total = add_tile(total, v, tile);
    }
    partial[lane] = total;
    for (var half = LANES / 2; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            partial[lane] = combine(partial[lane], partial[lane + half]);
        }
    }
    if (lane == 0) {
        store(p.x, p.y, p.z, p.w, finished(partial[0]));
    }
}
