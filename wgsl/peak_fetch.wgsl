// A whole program that measures the peak rate of loads: 8 texels in each of 8 rows of 1024, from the invocation's texel on,
// most of which neighbouring invocations load, too.
@group(0) @binding(1) var<storage, read_write> O_data: array<vec4f>; // one texel an invocation
@group(0) @binding(3) var<storage, read> X_data: array<vec4f>; // 7 rows and 7 texels more

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = vec4f();
    for (var y = 0u; y < 8; y++) {
        let at = id.x + y * 1024;
#for x 8
        sum += X_data[at + $x];
#endfor
    }
    O_data[id.x] = sum;
}
