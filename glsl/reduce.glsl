// A step to the reduction of an image: each fragment combines a region of rows and columns of the input.
//   factor   of the result
#include combine
vec4 sum;
void add(vec4 v) { sum = combine(sum, mapped(v)); }

vec4 kernel(int n, int t, int y, int x) {
    int tile = n * u.X_tiles + t;
    int column_begin = x * u.region.columns, column_end = min(column_begin + u.region.columns, u.X_W);
    int line_end = min((y + 1) * u.region.rows, u.X_H);
    vec4 total = NOTHING;
    for (int line = y * u.region.rows; line < line_end; line++) {
        sum = NOTHING;
#include columns
        total = combine(total, sum);
    }
    return total * u.factor;
}
