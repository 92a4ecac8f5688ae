// The end of every program. Most kernels define
//     fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f      a pixel's four channels
// and one invocation computes one texel; a kernel with an entry point of its own (OWN_ENTRY) calls store() for what it
// has computed.

// Applies the post-ops (tsr_post, written by src/webgpu/shader.c) and stores; padding channels stay zero.
fn store(n: i32, t: i32, y: i32, x: i32, v: vec4f) {
    let holds = vec4i(0, 1, 2, 3) < vec4i(u.O_C - 4 * t);
    let i = ((n * u.O_tiles + t) * u.O_H + y) * u.O_W + x;
    O_store(i, select(vec4f(), tsr_post(v, n, t, y, x), holds));
}

#if OWN_ENTRY == 0
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let i = i32((group.y * groups.x + group.x) * 64 + invocation); // groups are folded in two dimensions
    if (i >= u.O_texels) {
        return;
    }
    let p = O_position(i);
    store(p.x, p.y, p.z, p.w, kernel(p.x, p.y, p.z, p.w));
}
#endif
