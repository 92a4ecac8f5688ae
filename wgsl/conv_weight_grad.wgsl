// As glsl/conv_weight_grad.glsl; an invocation sums for all output channels of a block.

fn within(offset: i32, stride: i32, size: i32, inside: i32) -> vec2i {
    let first = select((-offset - 1) / stride + 1, 0, offset >= 0);
    return vec2i(first, select(min(size, (inside - offset - 1) / stride + 1), 0, offset >= inside));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    // Groups are folded in two dimensions.
    let at = i32((group.y * groups.x + group.x) * 64 + invocation) * ${BLOCK + (BLOCK == 0)};
    if (at >= u.O_texels) {
        return;
    }
    let p = O_position(at);
    let t = p.y;
    let tap = p.w / ${BLOCK + (BLOCK == 0)};
    let ky = tap / u.window_x.kernel;
    let kx = tap - ky * u.window_x.kernel;
    let partial = p.x / u.blocks;
#if BLOCK == 0
    let tile = t;
    let input_tile = t;
#else
    let first = (p.x - partial * u.blocks) * BLOCK;
    let tile = first >> 2;
#if GROUPED
    let channel = first / u.group_outputs * u.group_inputs + 4 * t;
#else
    let channel = 4 * t;
#endif
#if BLOCK == 1
    let c = min(channel + vec4i(0, 1, 2, 3), vec4i(u.X_C - 1)); // padding channels: any value
#else
    let input_tile = channel >> 2;
#endif
#endif
    let offset = vec2i(kx * u.window_x.dilation - u.window_x.pad, ky * u.window_y.dilation - u.window_y.pad);
    let rows = within(offset.y, u.window_y.stride, u.G_H, u.X_H);
    let columns = within(offset.x, u.window_x.stride, u.G_W, u.X_W);
#for j BLOCK + (BLOCK == 0)
    var v$j = vec4f();
#endfor
    let row_units = u.G_H * u.segments;
    let end = min((partial + 1) * u.units, u.G_N * row_units);
    for (var unit = partial * u.units; unit < end; unit++) {
        let image = unit / row_units;
        let rest = unit - image * row_units;
        let oy = rest / u.segments;
        let begin = (rest - oy * u.segments) * u.columns;
        if (oy < rows.x || oy >= rows.y) {
            continue;
        }
        let iy = oy * u.window_y.stride + offset.y;
        let last = min(begin + u.columns, columns.y);
#for j BLOCK + (BLOCK == 0)
        var row$j = vec4f();
#endfor
        for (var ox = max(begin, columns.x); ox < last; ox++) {
            let ix = ox * u.window_x.stride + offset.x;
#if BLOCK == 1
            row0 += G_at(image, first, oy, ox) * vec4f(X_at(image, c.x, iy, ix), X_at(image, c.y, iy, ix),
                                                       X_at(image, c.z, iy, ix), X_at(image, c.w, iy, ix));
#else
            let a = X_fetch(image * u.X_tiles + input_tile, iy, ix);
#for i (BLOCK + 3) / 4 + (BLOCK == 0)
            let g$i = G_fetch(image * u.G_tiles + min(tile + $i, u.G_tiles - 1), oy, ox);
#endfor
#for j BLOCK + (BLOCK == 0)
#if BLOCK == 0
            row$j += a * g0;
#else
            row$j += a * g${j / 4}[${j % 4}];
#endif
#endfor
#endif
        }
#for j BLOCK + (BLOCK == 0)
        v$j += row$j;
#endfor
    }
#for j BLOCK + (BLOCK == 0)
    store(p.x, t, 0, p.w + $j, v$j);
#endfor
}
