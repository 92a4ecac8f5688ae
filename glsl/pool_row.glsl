// Sliding windows of few columns, without weights. The pixels of a fragment share the rows that they read: see
// glsl/row.glsl. MODE 0: maximum; 1: average.
//   EACH_TAP(M)       M(0) .. M(TAPS - 1), the columns of a window
//   EACH_COLUMN(M)    M(0) .. M(ROW - 1), those of all windows of the fragment's pixels
uniform ivec4 window_y; // kernel, stride, dilation, pad
uniform ivec4 window_x; // w: pad
uniform ivec4 counted;  // average: positions before and behind the image that count as pixels: top, left, rows, columns

#if MODE == 0
#define BEGIN uintBitsToFloat(0xff800000u) // minus infinity
#define COMBINE(a, b) mix(a, b, tsr_larger(b, a))
#else
#define BEGIN 0.0
#define COMBINE(a, b) ((a) + (b))
#endif

#define KERNEL_ROW
void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
#define START(j, unused) v[j] = vec4(BEGIN);
    EACH_PLANE(START, 0)
    int k = n * A_grid.x + t, first = x * STRIDE - window_x.w;
    float rows = 0.0;
    row_begin(first);
    for (int ky = 0; ky < window_y.x; ky++) {
        int iy = y * window_y.y + ky * window_y.z - window_y.w;
        rows += iy >= -counted.x && iy < counted.z ? 1.0 : 0.0;
        if (iy < 0 || iy >= A_size.z)
            continue;
        vec4 row[ROW];
        ROW_READ(row, k, iy)
#if MODE == 0
#define BESIDE(i) row[i] = first + i >= 0 && first + i < A_size.w ? row[i] : vec4(BEGIN);
        EACH_COLUMN(BESIDE)
#endif
#define ADD(j, kx) v[j] = COMBINE(v[j], row[j * STRIDE + kx * DILATION]);
#define TAP(kx) EACH_PLANE(ADD, kx)
        EACH_TAP(TAP)
    }
#if MODE == 1
    float columns;
#define COUNT(kx) columns += at + kx * DILATION >= -counted.y && at + kx * DILATION < counted.w ? 1.0 : 0.0;
#define DIVIDE(j, unused)                                                                                             \
    {                                                                                                                 \
        int at = first + j * STRIDE;                                                                                  \
        columns = 0.0;                                                                                                \
        EACH_TAP(COUNT)                                                                                               \
        v[j] /= max(rows * columns, 1.0);                                                                             \
    }
    EACH_PLANE(DIVIDE, 0)
#endif
}
