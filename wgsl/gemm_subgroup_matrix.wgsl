// A GEMM on matrix units: factors of 16 bits, sums of 32. A workgroup of COLUMNS x ROWS subgroups of 32 invocations computes a
// region of ROWS * PIXELS * 16 pixels by COLUMNS * TILES * 16 channels; a subgroup PIXELS by TILES matrices of 16 x 16 of them.
// STEPS steps of both factors at a time are in workgroup memory. For left() and right() see wgsl/gemm.wgsl: here they give
// four numbers of 16 bits as they are stored.
const SUBGROUP = 32;
const SIZE = 16; // of a matrix
const INVOCATIONS = COLUMNS * ROWS * SUBGROUP;
const REGION_PIXELS = ROWS * PIXELS * SIZE;
const REGION_TILES = COLUMNS * TILES * SIZE / 4;
const SUBGROUP_PIXELS = PIXELS * SIZE;
const SUBGROUP_TILES = TILES * SIZE / 4;
// Rows of the arrays: a few elements more, so that neighbours are in different banks.
const LEFT_ROW = STEPS * 4 + 8;
const RIGHT_ROW = TILES * SIZE + 8;
const SUM_ROW = SIZE + 4;
// Arrays of arrays: within one, a matrix's place is a constant. Dawn guards an access to any other place by a branch: large layers
// took 14 to 20 % longer on an H200.
var<workgroup> left_shared: array<array<f16, SUBGROUP_PIXELS * LEFT_ROW>, ROWS>;
var<workgroup> right_shared: array<array<f16, STEPS * 4 * RIGHT_ROW>, COLUMNS>;
var<workgroup> sum_shared: array<array<f32, SUBGROUP_PIXELS * SUM_ROW>, COLUMNS * ROWS>; // of a subgroup

#include gemm_begin

    let subgroup = lane / SUBGROUP; // all known drivers number them so; with subgroup_id a network takes 10 % longer on an H200
    let column = subgroup % COLUMNS;
    let row = subgroup / COLUMNS;
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
#for k STEPS * 4 / 16
#for p PIXELS
            let a$k_$p = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(
                &left_shared[row], u32($p * SIZE * LEFT_ROW + $k * SIZE), u32(LEFT_ROW));
#endfor
#for t TILES
            let w$k_$t = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, row_major>(
                &right_shared[column], u32($k * SIZE * RIGHT_ROW + $t * SIZE), u32(RIGHT_ROW));
#for p PIXELS
            sum$p_$t = subgroupMatrixMultiplyAccumulate(a$k_$p, w$k_$t, sum$p_$t);
#endfor
#endfor
#endfor
        }
        if (step >= end) {
            break;
        }
        workgroupBarrier();
        for (var i = 0; i < LEFTS; i++) {
            let a = bitcast<vec4h>(next_left[i]);
            let at = read_pixel % SUBGROUP_PIXELS * LEFT_ROW + (read_step + i * LANE_STRIDE) * 4;
#for c 4
            left_shared[read_pixel / SUBGROUP_PIXELS][at + $c] = a[$c];
#endfor
        }
        for (var i = 0; i < RIGHTS; i++) {
            let w = bitcast<vec4h>(next_right[i]);
            let at = (read_row + i * ROW_STRIDE) * RIGHT_ROW + lane % SUBGROUP_TILES * 4;
#for c 4
            right_shared[lane % REGION_TILES / SUBGROUP_TILES][at + $c] = w[$c];
#endfor
        }
        workgroupBarrier();
    }
#for t TILES
#if t
    workgroupBarrier();
#endif
#for p PIXELS
    subgroupMatrixStore<row_major>(&sum_shared[subgroup], u32($p * SIZE * SUM_ROW), sum$p_$t, u32(SUM_ROW));
#endfor
    workgroupBarrier();
    for (var i = lane % SUBGROUP; i < SUBGROUP_PIXELS * SIZE / 4; i += SUBGROUP) {
        let at = i % SUBGROUP_PIXELS * SUM_ROW + i / SUBGROUP_PIXELS * 4;
        let pixel = first_pixel + row * SUBGROUP_PIXELS + i % SUBGROUP_PIXELS;
        let tile = first_tile + (column * TILES + $t) * SIZE / 4 + i / SUBGROUP_PIXELS;
        if (pixel < u.gemm.pixels && tile < u.gemm.tiles) {
            var v: vec4f;
#for c 4
            v[$c] = sum_shared[subgroup][at + $c];
#endfor
            keep(batch, partial, pixel, tile, v);
        }
    }
#endfor
}
