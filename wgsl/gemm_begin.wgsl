// The beginning of a GEMM through workgroup memory: the region of a workgroup, and what an invocation reads of it. The including
// kernel defines INVOCATIONS, and REGION_PIXELS by REGION_TILES.
const LANE_STRIDE = INVOCATIONS / REGION_PIXELS; // each invocation reads one pixel
const LEFTS = STEPS / LANE_STRIDE; // of an invocation
const ROW_STRIDE = INVOCATIONS / REGION_TILES; // and one tile
const RIGHTS = (STEPS * 4 + ROW_STRIDE - 1) / ROW_STRIDE;

@compute @workgroup_size(INVOCATIONS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) invocation: u32) {
    let lane = i32(invocation);
    let number = i32(group.y * groups.x + group.x); // groups are folded in two dimensions
    let pixel_number = number / u.gemm.tile_regions;
    let partial_number = pixel_number / u.gemm.pixel_regions;
    let first_tile = (number - pixel_number * u.gemm.tile_regions) * REGION_TILES;
    let first_pixel = (pixel_number - partial_number * u.gemm.pixel_regions) * REGION_PIXELS;
    let batch = partial_number / u.gemm.partials;
    if (batch >= u.gemm.batches) {
        return;
    }
    let partial = partial_number - batch * u.gemm.partials;
    let end = min((partial + 1) * u.gemm.partial_steps, u.gemm.steps);

    let read_pixel = lane % REGION_PIXELS;
    let read_step = lane / REGION_PIXELS;
    let pixel = prepare(batch, min(first_pixel + read_pixel, u.gemm.pixels - 1)); // no result after the last is kept
    let read_tile = min(first_tile + lane % REGION_TILES, u.gemm.tiles - 1);
    let read_row = lane / REGION_TILES;
