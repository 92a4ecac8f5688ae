// The same elements in row-major order, with another shape.
#include flat_element
float element(int n, int c, int y, int x) { return flat_element(((n * u.O_C + c) * u.O_H + y) * u.O_W + x); }
#include element
