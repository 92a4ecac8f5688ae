// A step to mean and variance of each channel of an image: a region of the source becomes two columns, the mean of its
// pixels and the sum of the squares of their differences from it. The image is read once. Regions are combined as in T. F.
// Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979; a
// single pixel is a region, too. The sums of squares never cancel.
//   PAIRS    0: the source is the image; 1: the result of an earlier step, with a pair of columns for each region
//   region   rows, columns of the source that are reduced to one pair
//   pixel    rows, columns of the image for one row, one column of the source
//   image, source    their rows, columns
//   factor   of the sum of squares
// On GPUs that render to 16-bit floats only (HALF_ONLY), the second column is the square root of the sum times the factor:
// a standard deviation, which 16 bits hold where they hold the image. A third column has what the first loses of the mean:
// an error of the mean would be one of all pixels. A fourth is not used.
struct Moments {
    float count;
    vec4 mean; // its difference from the origin, a pixel of the region: it needs few bits
    vec4 squares;
};

Moments combine(Moments a, Moments b) {
    float count = a.count + b.count, share = b.count / count;
    vec4 d = b.mean - a.mean;
    return Moments(count, a.mean + d * share, a.squares + b.squares + d * (d * (a.count * share)));
}

vec4 origin;
Moments row_total;

void add(vec4 v) { row_total = combine(row_total, Moments(1.0, v - origin, vec4(0.0))); }

#if HALF_ONLY
#define WIDTH 4 // columns for a region
vec4 sum_of(vec4 root) { return root * root * float(u.pixel.rows * u.pixel.columns); }
#define REST(tile, line, x) X_fetch(tile, line, WIDTH * x + 2)
#else
#define WIDTH 2
#define sum_of(sum) sum
#define REST(tile, line, x) vec4(0.0)
#endif

void add_line(int tile, int line, int column_begin, int column_end) {
    row_total = Moments(0.0, vec4(0.0), vec4(0.0));
#if PAIRS
    int rows = min(u.pixel.rows, u.image.rows - line * u.pixel.rows); // fewer at the edges
    for (int x = column_begin; x < column_end; x++) {
        int columns = min(u.pixel.columns, u.image.columns - x * u.pixel.columns);
        vec4 d = X_fetch(tile, line, WIDTH * x) - origin + REST(tile, line, x);
        row_total = combine(row_total, Moments(float(rows * columns), d, sum_of(X_fetch(tile, line, WIDTH * x + 1))));
    }
#else
#include columns
#endif
}

Moments measure(int tile, int y, int x) {
    int line_begin = y * u.region.rows, line_end = min(line_begin + u.region.rows, u.source.rows);
    int column_begin = x * u.region.columns, column_end = min(column_begin + u.region.columns, u.source.columns);
#if PAIRS
    origin = X_fetch(tile, line_begin, column_begin * WIDTH);
#else
    origin = X_fetch(tile, line_begin, column_begin);
#endif
    Moments total = Moments(0.0, vec4(0.0), vec4(0.0));
    for (int line = line_begin; line < line_end; line++) {
        add_line(tile, line, column_begin, column_end);
        total = combine(total, row_total);
    }
    return total;
}

void kernel_row(int n, int t, int y, int x) {
    Moments m;
#if HALF_ONLY
    vec4 mean, kept;
#for j PLANES
#if j % 4 == 0
    m = measure(n * u.X_tiles + t, y, x / 4 + ${j / 4});
    mean = origin + m.mean;
    kept = tsr_half(mean);
#endif
    {
        int column = (x + $j) % 4;
        v$j = column == 0 ? kept : column == 1 ? sqrt(m.squares * u.factor) : column == 2 ? mean - kept : vec4(0.0);
    }
#endfor
#else
#for j PLANES
#if j % 2 == 0
    m = measure(n * u.X_tiles + t, y, x / 2 + ${j / 2});
#endif
    v$j = (x + $j) % 2 == 0 ? origin + m.mean : m.squares * u.factor;
#endfor
#endif
}
