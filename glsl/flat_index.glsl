// Tuples of indices, one a channel, their parts in its columns, as indices into the axes seen as one. Table texel k: x the size
// of axis k, y the elements from one index to the next. Negative ones count from the end.
vec4 kernel(int n, int t, int y, int x) {
    ivec4 sum = ivec4(0);
    for (int k = 0; k < u.I_W; k++) {
        ivec2 axis = ivec2(table_texel(table_at(k, 0), 0).xy);
        ivec4 index = ivec4(I_fetch(n * u.I_tiles + t, y, k));
        index += ivec4(lessThan(index, ivec4(0))) * axis.x;
        sum += clamp(index, 0, axis.x - 1) * axis.y;
    }
    return vec4(sum);
}
