// Element i of input X in row-major order.
float flat_element(int i) {
    int row = tsr_quotient(i, u.X_W), plane = tsr_quotient(row, u.X_H), image = tsr_quotient(plane, u.X_C);
    return X_at(image, plane - image * u.X_C, row - plane * u.X_H, i - row * u.X_W);
}
