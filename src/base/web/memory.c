/* The most that the module's memory may grow to: what its link says (tools/web.sh). */
#include "base/memory.h"

uint64_t tsr_memory_bytes(void) {
    return TSR_WASM_MEMORY_BYTES;
}
