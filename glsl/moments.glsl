// One step to mean and variance of each channel of an image: a block of the source becomes two columns, the mean of its
// pixels and the sum of the squares of their differences from it. The image is read once. Blocks are combined as T. F.
// Chan, G. H. Golub and R. J. LeVeque do ("Updating formulae and a pairwise algorithm for computing sample variances",
// 1979), a single pixel being a block too; the sums of squares never cancel.
//   PAIRS 0: the source is the image; 1: it is what an earlier step has left
#define KERNEL_ROW
uniform ivec4 block; // rows, columns of the source, a pair being one; rows, columns of the image that one of these is
uniform ivec4 image; // rows, columns of the image; rows, columns of the source
uniform vec4 factor; // x: of the sum of squares

struct Moments {
    float count;
    vec4 mean; // its difference from the origin, a pixel of the block: it needs few bits
    vec4 squares;
};

Moments combine(Moments a, Moments b) {
    float count = a.count + b.count, share = b.count / count;
    vec4 d = b.mean - a.mean;
    return Moments(count, a.mean + d * share, a.squares + b.squares + d * (d * (a.count * share)));
}

vec4 origin;

Moments line(int k, int y, int begin, int end) {
    Moments total = Moments(0.0, vec4(0.0), vec4(0.0));
#if PAIRS
    for (int x = begin; x < end; x++) {
        ivec2 size = min(block.zw, image.xy - ivec2(y, x) * block.zw); // fewer at the edges
        vec4 d = A_fetch(k, y, 2 * x) - origin;
        total = combine(total, Moments(float(size.x * size.y), d, A_fetch(k, y, 2 * x + 1)));
    }
#else
#define ADD(v) total = combine(total, Moments(1.0, v - origin, vec4(0.0)));
    A_COLUMNS(k, y, begin, end, ADD)
#endif
    return total;
}

Moments measure(int k, int y, int x) {
    ivec2 begin = ivec2(y, x) * block.xy, end = min(begin + block.xy, image.zw);
    origin = A_fetch(k, begin.x, begin.y * (1 + PAIRS));
    Moments total = Moments(0.0, vec4(0.0), vec4(0.0));
    for (int iy = begin.x; iy < end.x; iy++)
        total = combine(total, line(k, iy, begin.y, end.y));
    return total;
}

void kernel_row(int n, int t, int y, int x, out vec4 v[PLANES]) {
    Moments m;
#define PART(j, unused)                                                                                               \
    if (j % 2 == 0)                                                                                                   \
        m = measure(n * A_grid.x + t, y, x / 2 + j / 2);                                                              \
    v[j] = (x + j) % 2 == 0 ? origin + m.mean : m.squares * factor.x;
    EACH_PLANE(PART, 0)
}
