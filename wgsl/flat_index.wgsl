// Tuples of indices, one a channel, their parts in its columns, as indices into the axes seen as one. Table texel k: x the size
// of axis k, y the elements from one index to the next. Negative ones count from the end.
fn kernel(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    var sum = vec4i();
    for (var k = 0; k < u.I_W; k++) {
        let axis = vec2i(table[k].xy);
        let index = vec4i(I_fetch(n * u.I_tiles + t, y, k));
        let counted = select(index, index + axis.x, index < vec4i());
        sum += clamp(counted, vec4i(), vec4i(axis.x - 1)) * axis.y;
    }
    return vec4f(sum);
}
