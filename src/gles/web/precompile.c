/* A page has one thread for all contexts. */
#include "gles/precompile.h"

tsr_status tsr_gles_start_precompiling(tsr_runner *r, int unit) {
    (void)r, (void)unit;
    return TSR_OK;
}

tsr_status tsr_gles_precompile_pass(tsr_runner *r, int i) {
    (void)r, (void)i;
    return TSR_OK;
}

void tsr_gles_precompile_transfer(tsr_runner *r, tsr_gles_transfer *t) {
    (void)r, (void)t;
}

tsr_status tsr_gles_finish_precompiling(tsr_runner *r, int unit) {
    (void)r, (void)unit;
    return TSR_OK;
}

void tsr_gles_stop_precompiling(tsr_runner *r) {
    (void)r;
}
