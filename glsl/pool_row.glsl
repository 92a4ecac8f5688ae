// Sliding windows of few columns, without weights. The pixels of a fragment share a row of input: see glsl/row.glsl.
// MODE 0: maximum; 1: average.
//   TAPS       columns of a window
//   ROW        columns of all windows of a fragment
//   counted    average: positions from (-top, -left) to (rows, columns) are counted
#if MODE == 0
#define BEGIN uintBitsToFloat(0xff800000u) // minus infinity
#define COMBINE(a, b) mix(a, b, tsr_larger(b, a))
#else
#define BEGIN 0.0
#define COMBINE(a, b) ((a) + (b))
#endif

#include row

void kernel_row(int n, int t, int y, int x) {
#for j PLANES
    v$j = vec4(BEGIN);
#endfor
    int tile = n * u.X_tiles + t, first = x * STRIDE - u.pad_x;
    float rows = 0.0;
    row_begin(first);
    int ky = 0; // tested at the end, as in glsl/conv_direct.glsl
    do {
        int line = y * u.window_y.stride + ky * u.window_y.dilation - u.window_y.pad;
        rows += line >= -u.counted.top && line < u.counted.rows ? 1.0 : 0.0;
        if (line >= 0 && line < u.X_H) {
#include row_read
#if MODE == 0
#for i ROW
            row$i = first + $i >= 0 && first + $i < u.X_W ? row$i : vec4(BEGIN);
#endfor
#endif
#for k TAPS
#for j PLANES
            v$j = COMBINE(v$j, row${j * STRIDE + k * DILATION});
#endfor
#endfor
        }
    } while (++ky < u.window_y.kernel);
#if MODE == 1
    float columns;
#for j PLANES
    columns = 0.0;
#for k TAPS
    columns += first + ${j * STRIDE + k * DILATION} >= -u.counted.left &&
                       first + ${j * STRIDE + k * DILATION} < u.counted.columns ? 1.0 : 0.0;
#endfor
    v$j /= max(rows * columns, 1.0);
#endfor
#endif
}
