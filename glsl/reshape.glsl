// The same elements in row-major order with other sizes.
#define KERNEL_ELEMENT
float element(int n, int c, int y, int x) {
    int i = ((n * O_size.y + c) * O_size.z + y) * O_size.w + x;
    int row = i / A_size.w, plane = row / A_size.z, image = plane / A_size.y;
    return A_at(image, plane - image * A_size.y, row - plane * A_size.z, i - row * A_size.w);
}
