/* A tensor of the caller's on a device: a runner of a graph without nodes, whose only value is both
 * input and output. Transfers are those of sessions. */
#ifndef TSR_API_DEVICE_TENSOR_H
#define TSR_API_DEVICE_TENSOR_H

#include "api/device.h"
#include "tessera_primitive.h"

/* The elements: tensors and primitives exchange them. */
typedef struct tsr_tensor_storage {
    tsr_graph *graph;
    tsr_runner *runner;
} tsr_tensor_storage;

struct tsr_device_tensor {
    tsr_device *device; /* retained */
    tsr_dtype dtype;
    tsr_tensor_storage storage;
};

/* Of zeros. After a failure there is nothing to destroy. */
tsr_status tsr_tensor_storage_make(const tsr_device *device, const tsr_shape *shape,
                                   tsr_dtype dtype, tsr_tensor_storage *storage);
void tsr_tensor_storage_destroy(const tsr_device *device, tsr_tensor_storage *storage);
/* The value of its graph. */
const tsr_value *tsr_tensor_storage_value(const tsr_tensor_storage *storage);

/* Is it float32 or float16? */
tsr_status tsr_check_storage_type(tsr_dtype dtype);
/* The precision of runners whose tensors have this type. */
tsr_precision tsr_precision_of(tsr_dtype dtype);

#endif
