#include "values.h"

#include "message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool parse_range(const char *text, float *low, float *high) {
    char *end, *second = NULL;
    *low = strtof(text, &end);
    bool good = end != text && *end == ':';
    if (good)
        *high = strtof(end + 1, &second);
    good = good && second != end + 1 && !*second && *low < *high && isfinite(*high - *low);
    return good || complain("--range expects LO:HI, as -1:1, not '%s'", text);
}

bool parse_precision(const char *text, tsr_precision *precision) {
    *precision = !strcmp(text, "fp16") ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
    return !strcmp(text, "fp16") || !strcmp(text, "fp32") ||
           complain("--precision expects fp32 or fp16, not '%s'", text);
}

bool parse_frames(const char *text, int *frames) {
    char *end;
    long count = strtol(text, &end, 10);
    *frames = count > 0 && count <= 1000000000 ? (int)count : 0;
    return (end != text && !*end && *frames) ||
           complain("--frames expects a number, not '%s'", text);
}
