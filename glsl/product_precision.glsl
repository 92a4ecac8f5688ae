// HALF_PRODUCTS 1: products, and sums of four of them, are in 16 bits where the GPU has such arithmetic; longer sums are in 32.
// Weights are scaled so that the sum of four products of finite 16-bit numbers is finite; u.scale undoes that.
#if HALF_PRODUCTS
#define PRODUCT mediump
#else
#define PRODUCT highp
#endif
