// A whole program that measures the peak rate of copying texels.
@group(0) @binding(1) var<storage, read_write> O_data: array<vec4f>;
@group(0) @binding(3) var<storage, read> X_data: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    O_data[id.x] = X_data[id.x];
}
