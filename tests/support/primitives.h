/* Primitives with random post-ops beside the same as an ONNX model, node by node, which the cpu
 * backend computes unfused. */
#ifndef TESTS_SUPPORT_PRIMITIVES_H
#define TESTS_SUPPORT_PRIMITIVES_H

#include "support/random.h"
#include "support/sessions.h"
#include "tessera_primitive.h"

typedef struct case_tensor {
    char name[16];
    tsr_shape shape;
    elements data;
} case_tensor;

enum { MAX_CASE_TENSORS = TSR_MAX_POST_OPS + 3, NO_TENSOR = -1 };

typedef struct primitive_case {
    random_source random;
    onnx_writer *writer; /* its inputs: the tensors; its output: y */
    tsr_primitive_desc desc;
    tsr_post_ops *posts;
    tsr_shape result;
    int tensor_count;
    case_tensor tensors[MAX_CASE_TENSORS];
    int source, other, before; /* indices of tensors; NO_TENSOR */
    int operands[TSR_MAX_POST_OPS];
    elements weights, bias;
    char last[16]; /* the model's value so far */
    int values;
    tsr_model *model; /* once it was closed */
} primitive_case;

/* A primitive without post-ops: random shapes, windows and elements. */
void begin_primitive(primitive_case *c, tsr_primitive_kind kind, uint32_t seed);
/* One of one unary operator, on elements from 0 to 1 and a random shape. */
void begin_unary(primitive_case *c, const char *op, uint32_t seed);
/* Post-ops, to the chain and to the model. */
void add_eltwise(primitive_case *c, const char *op, float alpha, float beta);
void add_sum(primitive_case *c, float scale, float zero_point);
/* operand: its elements are mean - range .. mean + range */
void add_binary(primitive_case *c, const char *op, const tsr_shape *operand, bool swapped,
                float mean, float range);
void add_prelu(primitive_case *c, unsigned mask);
/* Post-op i of a chain. */
tsr_post_op post_of(const tsr_post_ops *posts, int i);

/* A random shape that broadcasts to the result: one element, one per channel, all, others. */
tsr_shape random_operand(primitive_case *c);
/* One that neither enlarges its result nor, by much, differences. */
void add_random_post(primitive_case *c);
/* No more post-ops: makes the model. */
void close_primitive(primitive_case *c);
void free_primitive(primitive_case *c);

/* The result after `runs` runs, each of which writes over the destination of the one before. */
elements run_primitive(const primitive_case *c, tsr_device *device, tsr_dtype dtype, int runs);
elements run_reference(const primitive_case *c, tsr_device *cpu, int runs);
/* On the GPU under test and on cpu, against the model. */
void expect_primitive(primitive_case *c, tsr_device *gpu, tsr_device *cpu, tsr_dtype dtype,
                      double tolerance);

tsr_device_tensor *make_tensor(tsr_device *device, const tsr_shape *shape, tsr_dtype dtype,
                               const float *elements);
elements random_elements(random_source *random, const tsr_shape *shape, float mean, float range);
/* Of the tensor, to be freed. */
elements read_tensor(tsr_device_tensor *tensor);

#endif
