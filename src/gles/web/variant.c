/* A page's driver keeps no such cache. */
#include "gles/variant.h"

uint64_t tsr_gles_variant(const tsr_backend_device *device, const tsr_plan *plan,
                          const tsr_pass *pass) {
    (void)device, (void)plan, (void)pass;
    return 0;
}
