/* What JavaScript's Math has, and what engines call as directly as code of the module: the C
 * library's tables for these are a large part of a small module. */
#include <math.h>

#define FROM_PAGE(name)                                                                            \
    __attribute__((import_module("Math"), import_name(#name))) double web_##name(double x);        \
    double name(double x) {                                                                        \
        return web_##name(x);                                                                      \
    }

FROM_PAGE(acos)
FROM_PAGE(asin)
FROM_PAGE(cos)
FROM_PAGE(log)
FROM_PAGE(sin)
FROM_PAGE(tan)

__attribute__((import_module("Math"), import_name("pow"))) double web_pow(double x, double y);

/* JavaScript has NaN where C has 1. */
double pow(double x, double y) {
    return x == 1 || (x == -1 && isinf(y)) ? 1 : web_pow(x, y);
}
