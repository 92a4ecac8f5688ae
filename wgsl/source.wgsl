// Reading the inputs and the operands of post-ops. S_BEFORE 1: S_before() is applied to each texel that is read: an operator
// before the kernel, which keeps 0. Integers stand for (stored - u.S_step.x) * u.S_step.y: S_SHIFTED 1 with the former, S_SCALED 1
// with the latter.
#for s SOURCES
#if $S_TEXEL == 1
@group(0) @binding(3 + $s) var<storage, read> $S_data: array<vec2u>;
fn $S_stored(i: i32) -> vec4f {
    let bits = $S_data[i];
    return vec4f(unpack2x16float(bits.x), unpack2x16float(bits.y));
}
#elif $S_TEXEL == 2
@group(0) @binding(3 + $s) var<storage, read> $S_data: array<u32>;
fn $S_stored(i: i32) -> vec4f { return vec4f((vec4u($S_data[i]) >> vec4u(0, 8, 16, 24)) & vec4u(255)); }
#elif $S_TEXEL == 3
@group(0) @binding(3 + $s) var<storage, read> $S_data: array<i32>;
fn $S_stored(i: i32) -> vec4f { return vec4f((vec4i($S_data[i]) << vec4u(24, 16, 8, 0)) >> vec4u(24)); }
#else
@group(0) @binding(3 + $s) var<storage, read> $S_data: array<vec4f>;
fn $S_stored(i: i32) -> vec4f { return $S_data[i]; }
#endif
#if $S_SHIFTED
fn $S_shifted(i: i32) -> vec4f { return $S_stored(i) - u.$S_step.x; }
#else
fn $S_shifted(i: i32) -> vec4f { return $S_stored(i); }
#endif
#if $S_SCALED
fn $S_element(i: i32) -> vec4f { return $S_shifted(i) * u.$S_step.y; }
#else
fn $S_element(i: i32) -> vec4f { return $S_shifted(i); }
#endif
#if $S_BEFORE
fn $S_load(i: i32) -> vec4f { return $S_before($S_element(i)); }
#else
fn $S_load(i: i32) -> vec4f { return $S_element(i); }
#endif

// Channels 4t .. 4t + 3 of pixel (x, y) of image n, k = n * u.$S_tiles + t; all in range.
fn $S_fetch(k: i32, y: i32, x: i32) -> vec4f { return $S_load((k * u.$S_H + y) * u.$S_W + x); }

// The same for the pixel being computed, in a tensor of the output's size.
fn $S_own(n: i32, t: i32, y: i32, x: i32) -> vec4f { return $S_fetch(n * u.$S_tiles + t, y, x); }

// As $S_fetch, zero outside the image.
fn $S_pixel(k: i32, y: i32, x: i32) -> vec4f {
    if (y < 0 || y >= u.$S_H || x < 0 || x >= u.$S_W) {
        return vec4f();
    }
    return $S_fetch(k, y, x);
}

// One element.
fn $S_at(n: i32, c: i32, y: i32, x: i32) -> f32 { return $S_fetch(n * u.$S_tiles + (c >> 2), y, x)[c & 3]; }

// Axes of size 1 are broadcast.
fn $S_broadcast(n: i32, t: i32, y: i32, x: i32) -> vec4f {
    let k = min(n, u.$S_N - 1) * u.$S_tiles + min(t, u.$S_tiles - 1);
    let v = $S_fetch(k, min(y, u.$S_H - 1), min(x, u.$S_W - 1));
    return select(v, v.xxxx, u.$S_C == 1);
}

// DepthToSpace of the tensor; a single resulting channel is broadcast. dcr 1: mode DCR, the position in the block varies
// slowest along the channels; 0: CRD, fastest.
fn $S_depth_to_space(n: i32, t: i32, y: i32, x: i32, blocksize: i32, dcr: i32) -> vec4f {
    let count = u.$S_C / (blocksize * blocksize);
    let pixel = vec2i(x, y) / blocksize;
    let inner = vec2i(x, y) - pixel * blocksize;
    let position = inner.y * blocksize + inner.x;
    var v: vec4f;
    for (var i = 0; i < 4; i++) {
        let c = min(4 * t + i, count - 1);
        v[i] = $S_at(n, select(c * (blocksize * blocksize) + position, c + position * count, dcr == 1), pixel.y, pixel.x);
    }
    return v;
}
#endfor
