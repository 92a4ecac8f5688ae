// A GEMM on matrix units: factors of 16 bits, sums of 32. A workgroup of COLUMNS x ROWS subgroups of 32 invocations computes a
// region of ROWS * PIXELS * 16 pixels by COLUMNS * TILES * 16 channels; a subgroup PIXELS by TILES matrices of 16 x 16 of them.
// STEPS steps of both factors at a time are in workgroup memory. For left() and right() see wgsl/gemm.wgsl: here they give
// four numbers of 16 bits as they are stored.
const SUBGROUP = 32;
const SIZE = 16; // of a matrix
const INVOCATIONS = COLUMNS * ROWS * SUBGROUP;
const REGION_PIXELS = ROWS * PIXELS * SIZE;
const REGION_TILES = COLUMNS * TILES * SIZE / 4;
// Rows of the arrays: a few elements more, so that neighbours are in different banks.
const LEFT_ROW = STEPS * 4 + 8;
const RIGHT_ROW = REGION_TILES * 4 + 8;
const SUM_ROW = COLUMNS * SIZE + 4;
var<workgroup> left_shared: array<f16, REGION_PIXELS * LEFT_ROW>;
var<workgroup> right_shared: array<f16, STEPS * 4 * RIGHT_ROW>;
var<workgroup> sum_shared: array<f32, REGION_PIXELS * SUM_ROW>;

#include gemm_begin

    let subgroup = lane / SUBGROUP; // all known drivers number them so; with subgroup_id a network takes 10 % longer on an H200
    let first_column = subgroup % COLUMNS * TILES * SIZE;
    let first_row = subgroup / COLUMNS * PIXELS * SIZE;
#for p PIXELS
#for t TILES
    var sum$p_$t: subgroup_matrix_result<f32, 16, 16>;
#endfor
#endfor
    var next_left: array<Left, LEFTS>;
    var next_right: array<Packed, RIGHTS>;
    let begin = partial * u.gemm.partial_steps;
    var at = place(begin + read_step);
    var tap = texel(pixel, at.xy);
    for (var step = begin;; step += STEPS) {
#include gemm_read
        if (step > begin) {
            for (var k = 0; k < STEPS * 4; k += SIZE) {
#for p PIXELS
                let a$p = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(
                    &left_shared, u32((first_row + $p * SIZE) * LEFT_ROW + k), u32(LEFT_ROW));
#endfor
#for t TILES
                let w$t = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(
                    &right_shared, u32(k * RIGHT_ROW + first_column + $t * SIZE), u32(RIGHT_ROW));
#for p PIXELS
                sum$p_$t = subgroupMatrixMultiplyAccumulate(a$p, w$t, sum$p_$t);
#endfor
#endfor
            }
        }
        if (step >= end) {
            break;
        }
        workgroupBarrier();
        for (var i = 0; i < LEFTS; i++) {
            let a = bitcast<vec4h>(next_left[i]);
            let at = read_pixel * LEFT_ROW + (read_step + i * LANE_STRIDE) * 4;
#for c 4
            left_shared[at + $c] = a[$c];
#endfor
        }
        for (var i = 0; i < RIGHTS; i++) {
            let w = bitcast<vec4h>(next_right[i]);
            let at = (read_row + i * ROW_STRIDE) * RIGHT_ROW + lane % REGION_TILES * 4;
#for c 4
            right_shared[at + $c] = w[$c];
#endfor
        }
        workgroupBarrier();
    }
#for t TILES
#if t
    workgroupBarrier();
#endif
#for p PIXELS
    subgroupMatrixStore<row_major>(
        &sum_shared, u32((first_row + $p * SIZE) * SUM_ROW + subgroup % COLUMNS * SIZE), sum$p_$t, u32(SUM_ROW));
#endfor
    workgroupBarrier();
    for (var i = lane / REGION_PIXELS; i < COLUMNS * SIZE / 4; i += LANE_STRIDE) {
        let tile = first_tile + (i / 4 * TILES + $t) * 4 + i % 4; // four of a matrix
        if (readable && tile < u.gemm.tiles) {
            let at = read_pixel * SUM_ROW + i * 4;
            let v = vec4f(sum_shared[at], sum_shared[at + 1], sum_shared[at + 2], sum_shared[at + 3]);
            keep(batch, partial, first_pixel + read_pixel, tile, v);
        }
    }
#endfor
}
