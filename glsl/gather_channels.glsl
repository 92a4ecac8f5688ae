// Channels by the indices I, one for each channel of the result. Negative ones count from the end; those outside are
// moved inside.
float element(int n, int c, int y, int x) {
    int index = int(I_at(0, c, 0, 0));
    return X_at(n, clamp(index < 0 ? index + u.X_C : index, 0, u.X_C - 1), y, x);
}
#include element
