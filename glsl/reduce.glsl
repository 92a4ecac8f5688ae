// A step to the mean of an image: each fragment adds up a region of rows and columns of the input.
//   factor   of the sum
vec4 sum;
void add(vec4 v) { sum += v; }

vec4 kernel(int n, int t, int y, int x) {
    int tile = n * u.X_tiles + t;
    int column_begin = x * u.region.columns, column_end = min(column_begin + u.region.columns, u.X_W);
    int line_end = min((y + 1) * u.region.rows, u.X_H);
    vec4 total = vec4(0.0);
    for (int line = y * u.region.rows; line < line_end; line++) {
        sum = vec4(0.0);
#include columns
        total += sum;
    }
    return total * u.factor;
}
