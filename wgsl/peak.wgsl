// A whole program that measures the peak rate of multiply-adds: 64 iterations of 8 steps on 3 vec4f per invocation, twelve
// independent chains, few enough to stay in the registers of a CPU.
@group(0) @binding(0) var<uniform> line: vec4f; // factor and summand, unknown to the compiler
@group(0) @binding(1) var<storage, read_write> O_data: array<vec4f>; // one texel an invocation

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var a = vec4f(id.xxxx + vec4u(0, 1, 2, 3)) * 1e-6; // each lane a different value
    var b = a + 1.0;
    var c = a + 2.0;
    for (var i = 0; i < 64; i++) {
#for s 8
        a = a * line.x + line.y;
        b = b * line.x + line.y;
        c = c * line.x + line.y;
#endfor
    }
    O_data[id.x] = a + b + c;
}
