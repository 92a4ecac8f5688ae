// Of a picture's channels.
vec4 mean() { return vec4(u.mean_0, u.mean_1, u.mean_2, u.mean_3); }
vec4 scale() { return vec4(u.scale_0, u.scale_1, u.scale_2, u.scale_3); }
float luma(vec4 v) { return dot(v.rgb, vec3(0.299, 0.587, 0.114)); }
