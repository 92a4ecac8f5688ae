/* WebGPU's functions, from the platform (src/webgpu/native: a library), and ABI differences from
 * the header. */
#ifndef TSR_WEBGPU_LIBRARY_H
#define TSR_WEBGPU_LIBRARY_H

#include "base/error.h"
#include "webgpu/wgpu.h"

/* The process's one library, loaded by the first call and never closed: the file that the
 * environment variable TSR_WEBGPU_LIBRARY names, else the first of the usual names, else what
 * tools/get-webgpu.sh fetched. Any thread. */
tsr_status tsr_wgpu_load(const tsr_wgpu **api);

/* An instance whose futures can be waited for; NULL on failure. */
WGPUInstance tsr_wgpu_create_instance(const tsr_wgpu *api);

/* To be called with the first instance that found an adapter. */
void tsr_wgpu_keep(const tsr_wgpu *api, WGPUInstance instance);

/* Afterwards the future's callback, of the mode WaitAnyOnly, does not run. */
void tsr_wgpu_abandon(const tsr_wgpu *api, WGPUInstance instance, WGPUFuture future);

/* Does waiting for a future block? In a page it cannot: what is not known by then is taken for a
 * success, whose error comes later. */
bool tsr_wgpu_blocks(const tsr_wgpu *api);

/* Are devices that adapters give used by others, too? */
bool tsr_wgpu_shares_device(const tsr_wgpu *api);

/* What an adapter needs, for the message where there is none. */
const char *tsr_wgpu_needs(void);

/* Does the page's device multiply matrices of 16 x 16 numbers of 16 bits with sums of 32, by
 * subgroups of 32? No library does that is known here. */
bool tsr_wgpu_has_subgroup_matrix(void);

/* The library's number for timestamp queries; a wrong one would be another feature, silently. */
WGPUFeatureName tsr_wgpu_timestamp_query(const tsr_wgpu *api);

#endif
