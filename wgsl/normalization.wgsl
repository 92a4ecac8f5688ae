// Of a picture's channels.
fn mean() -> vec4f { return vec4f(u.mean_0, u.mean_1, u.mean_2, u.mean_3); }
fn scale() -> vec4f { return vec4f(u.scale_0, u.scale_1, u.scale_2, u.scale_3); }
fn luma(v: vec4f) -> f32 { return dot(v.rgb, vec3f(0.299, 0.587, 0.114)); }
