// A GEMM without workgroup memory, for software rasterisers, where a barrier costs more than it saves. An invocation
// computes a region of PIXELS pixels by TILES tiles in registers, so that each texel is loaded once for several sums. The
// parameters are those of wgsl/gemm_workgroup.wgsl.
fn weights(batch: i32, row: i32, tile: i32) -> Weights { return unpack(right(batch, row, tile), batch, row, tile); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let number = i32((group.y * groups.x + group.x) * 64 + invocation); // groups are folded in two dimensions
    let tile_number = number / u.gemm.pixel_regions;
    let partial_number = tile_number / u.gemm.tile_regions;
    let batch = partial_number / u.gemm.partials;
    if (batch >= u.gemm.batches) {
        return;
    }
    let first_pixel = (number - tile_number * u.gemm.pixel_regions) * PIXELS;
    let first_tile = (tile_number - partial_number * u.gemm.tile_regions) * TILES;
    let partial = partial_number - batch * u.gemm.partials;
    let end = min((partial + 1) * u.gemm.partial_steps, u.gemm.steps);
    var pixels: array<Pixel, PIXELS>;
    for (var p = 0; p < PIXELS; p++) {
        pixels[p] = prepare(batch, min(first_pixel + p, u.gemm.pixels - 1));
    }
#for p PIXELS
#for t TILES
    var sum$p_$t = Sum();
#endfor
#endfor
    for (var step = partial * u.gemm.partial_steps; step < end; step++) {
        let at = place(step);
#for p PIXELS
        let a$p = left(texel_of(texel(pixels[$p], at.xy), at));
#endfor
#for t TILES
#for c 4
        let w$t_$c = weights(batch, 4 * step + $c, min(first_tile + $t, u.gemm.tiles - 1));
#for p PIXELS
#include gemm_product
#endfor
#endfor
#endfor
    }
    var sums: array<Sum, PIXELS * TILES>; // for a loop, so that keep() is compiled once
#for p PIXELS
#for t TILES
    sums[$p * TILES + $t] = sum$p_$t;
#endfor
#endfor
    for (var i = 0; i < PIXELS * TILES; i++) {
        let pixel = first_pixel + i / TILES;
        let tile = first_tile + i % TILES;
        if (pixel < u.gemm.pixels && tile < u.gemm.tiles) {
            keep(batch, partial, pixel, tile, vec4f(sums[i]));
        }
    }
}
