// The same elements in row-major order, with another shape.
float element(int n, int c, int y, int x) {
    int i = ((n * u.O_C + c) * u.O_H + y) * u.O_W + x;
    int row = tsr_quotient(i, u.X_W), plane = tsr_quotient(row, u.X_H), image = tsr_quotient(plane, u.X_C);
    return X_at(image, plane - image * u.X_C, row - plane * u.X_H, i - row * u.X_W);
}
#include element
