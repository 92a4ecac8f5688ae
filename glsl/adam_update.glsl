// An update by Adam: X after it; beside it, the averages V of gradients and H of their squares. Texel F: see src/graph/update.h.
vec4 kernel(int n, int t, int y, int x) {
    vec4 before = X_own(n, t, y, x), v = V_own(n, t, y, x), h = H_own(n, t, y, x), f = F_fetch(0, 0, 0);
    vec4 g = mix(G_own(n, t, y, x) * f.x, vec4(0.0), bvec4(f.x == 0.0)); // whatever it is
    g += before * u.norm_coefficient;
    v += (g - v) * u.mean_part;
    h += (g * g - h) * u.square_part;
    tsr_more0 = v;
    tsr_more1 = h;
    return before * f.w - v / (sqrt(h) * f.z + u.epsilon) * f.y;
}
