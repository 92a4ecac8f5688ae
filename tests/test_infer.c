/* Shape inference: for each operator what comes out of good, odd and hostile nodes. */
#include "node_text.h"

#include "graph/infer.h"
#include "support/main.h"

typedef struct infer_case {
    const char *op, *inputs, *attrs, *expected; /* outputs, or the name of a status */
    int outputs;                                /* where the case fails; 0: 1 */
} infer_case;

static const infer_case elementwise_cases[] = {
    {"Relu", "f[2,3]", "", "f[2,3]", 0},
    {"Relu", "f[]", "", "f[]", 0},
    {"Relu", "h[0,3]", "", "h[0,3]", 0},
    {"Neg", "i[2]", "", "i[2]", 0},
    {"Neg", "b[2]", "", "UNSUPPORTED", 0},
    {"Sigmoid", "i[2]", "", "UNSUPPORTED", 0},
    {"Relu", "f[2] f[2]", "", "INVALID_MODEL", 0},
    {"Relu", "-", "", "INVALID_MODEL", 0},
    {"Relu", "f[2,-1]", "", "SHAPE", 0},
    {"Relu", "f[4294967296]", "", "SHAPE", 0},
    {"Add", "f[1,3,4,4] f[3,1,1]", "", "f[1,3,4,4]", 0},
    {"Add", "f[5,1] f[1,6]", "", "f[5,6]", 0},
    {"Add", "f[] f[2,2]", "", "f[2,2]", 0},
    {"Mul", "f[0,3] f[1,3]", "", "f[0,3]", 0},
    {"Mul", "f[0,3] f[2,3]", "", "SHAPE", 0},
    {"Sub", "f[2,3] f[2]", "", "SHAPE", 0},
    {"Div", "f[2] i[2]", "", "INVALID_MODEL", 0},
    {"Add", "b[2] b[2]", "", "INVALID_MODEL", 0},
    {"Add", "f[2]", "", "INVALID_MODEL", 0},
    {"Mul", "f[2147483647,1,1,1] f[2147483647,2147483647,2]", "", "SHAPE", 0},
    {"PRelu", "f[1,3,4,4] f[3,1,1]", "", "f[1,3,4,4]", 0},
    {"PRelu", "f[3] f[2,3]", "", "SHAPE", 0},
    {"PRelu", "f[1,3] f[4,3]", "", "SHAPE", 0},
    {"PRelu", "i[3] i[3]", "", "UNSUPPORTED", 0},
    {"LayerNormalization", "f[2,3,4] f[4]", "", "f[2,3,4]", 0},
    {"LayerNormalization", "f[2,3,4] f[3,4] f[3,4]", "axis=-2", "f[2,3,4]", 0},
    {"LayerNormalization", "f[2,3,4] f[3]", "axis=-2", "UNSUPPORTED", 0},
    {"LayerNormalization", "f[2,3,4] f[4]", "axis=3", "INVALID_MODEL", 0},
    {"Not", "b[2,3]", "", "b[2,3]", 0},
    {"Not", "f[2,3]", "", "INVALID_MODEL", 0},
    {"Clip", "f[2,3]", "", "f[2,3]", 0},
    {"Clip", "f[2,3] - f[]=6", "", "f[2,3]", 0},
    {"Clip", "f[2,3] f[1] f[]", "", "f[2,3]", 0},
    {"Clip", "f[2,3] f[2]", "", "SHAPE", 0},
    {"Clip", "f[2,3] i[]", "", "INVALID_MODEL", 0},
    {"Softmax", "f[2,3]", "", "f[2,3]", 0},
    {"Softmax", "f[2,3]", "axis=-2 coerce_2d=1", "f[2,3]", 0},
    {"Softmax", "f[2,3]", "axis=2", "INVALID_MODEL", 0},
    {"Softmax", "f[]", "", "INVALID_MODEL", 0},
    {"Identity", "b[2,3]", "", "b[2,3]", 0},
    {"Cast", "f[2,3]", "to=7", "i[2,3]", 0},
    {"Cast", "i[2]", "to=10", "h[2]", 0},
    {"Cast", "i[2]", "to=8", "UNSUPPORTED", 0},
    {"Cast", "i[2]", "to=-3", "INVALID_MODEL", 0},
    {"Cast", "i[2]", "", "INVALID_MODEL", 0},
    {"Dropout", "f[2,3]", "", "f[2,3]", 0},
    {"Dropout", "f[2,3] f[]=0.5", "", "f[2,3] b[2,3]", 0},
    {"Dropout", "f[2,3] f[]=0.5 b[]=0", "", "f[2,3]", 0},
    {"Dropout", "f[2,3] f[]=0 b[]=1", "", "f[2,3]", 0},
    {"Dropout", "f[2,3] f[]=0.5 b[]=1", "", "UNSUPPORTED", 0},
    {"Dropout", "f[2,3] - b[]=1", "", "UNSUPPORTED", 0},
    {"Dropout", "f[2,3] - b[]", "", "UNSUPPORTED", 0},
    {"Dropout", "f[2,3] - b[2]=1,1", "", "SHAPE", 0},
    {"Dropout", "f[2,3] - i[]=1", "", "INVALID_MODEL", 0},
};

static const infer_case normalization_cases[] = {
    {"BatchNormalization", "f[1,3,4,4] f[3] f[3] f[3] f[3]", "", "f[1,3,4,4]", 0},
    {"BatchNormalization", "h[2,3] f[3] f[3] f[3] f[3]", "", "h[2,3]", 0},
    {"BatchNormalization", "f[1,3,4,4] f[3] f[3] f[3] f[4]", "", "SHAPE", 0},
    {"BatchNormalization", "f[1,3,4,4] f[3] f[3,1] f[3] f[3]", "", "SHAPE", 0},
    {"BatchNormalization", "f[3] f[3] f[3] f[3] f[3]", "", "SHAPE", 0},
    {"BatchNormalization", "f[1,3] f[3] f[3] f[3] i[3]", "", "INVALID_MODEL", 0},
    {"BatchNormalization", "f[1,3] f[3] f[3] f[3]", "", "INVALID_MODEL", 0},
    {"BatchNormalization", "f[1,3] f[3] f[3] f[3] f[3]", "training_mode=1", "UNSUPPORTED", 0},
    {"BatchNormalization", "f[1,3] f[3] f[3] f[3] f[3]", "", "UNSUPPORTED", 3},
    {"InstanceNormalization", "f[1,3,4,4] f[3] f[3]", "", "f[1,3,4,4]", 0},
    {"InstanceNormalization", "f[1,3,4,4] f[3] f[2]", "", "SHAPE", 0},
    {"InstanceNormalization", "f[1,3] f[3] f[3]", "", "SHAPE", 0},
    {"Gemm", "f[2,3] f[3,4]", "", "f[2,4]", 0},
    {"Gemm", "f[3,2] f[4,3] f[4]", "transA=1 transB=1", "f[2,4]", 0},
    {"Gemm", "f[2,3] f[3,4] f[2,1]", "", "f[2,4]", 0},
    {"Gemm", "f[0,3] f[3,4] f[]", "", "f[0,4]", 0},
    {"Gemm", "f[2,0] f[0,4]", "", "f[2,4]", 0},
    {"Gemm", "f[2,3] f[4,3]", "", "SHAPE", 0},
    {"Gemm", "f[2,3] f[3,4] f[3]", "", "SHAPE", 0},
    {"Gemm", "f[2,3] f[3,4] f[2,2,4]", "", "SHAPE", 0},
    {"Gemm", "f[2,3,1] f[3,4]", "", "SHAPE", 0},
    {"Gemm", "f[2,3] d[3,4]", "", "INVALID_MODEL", 0},
    {"MatMul", "f[2,3] f[3,4]", "", "f[2,4]", 0},
    {"MatMul", "f[3] f[3]", "", "f[]", 0},
    {"MatMul", "f[3] f[5,3,4]", "", "f[5,4]", 0},
    {"MatMul", "f[5,2,3] f[3]", "", "f[5,2]", 0},
    {"MatMul", "f[5,1,2,3] f[6,3,4]", "", "f[5,6,2,4]", 0},
    {"MatMul", "f[2,2,3] f[3,3,4]", "", "SHAPE", 0},
    {"MatMul", "f[2,3] f[4,3]", "", "SHAPE", 0},
    {"MatMul", "f[] f[3]", "", "SHAPE", 0},
    {"MatMul", "i[2,3] i[3,4]", "", "UNSUPPORTED", 0},
};

static const infer_case conv_cases[] = {
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "", "f[1,4,6,6]", 0},
    {"Conv", "f[1,3,8,9] f[4,3,3,3] f[4]", "pads=1,1,1,1 strides=2,2", "f[1,4,4,5]", 0},
    {"Conv", "f[1,3,8,8] f[4,3,4,4]", "pads=0,1,2,3 strides=1,2", "f[1,4,7,5]", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "dilations=2,3", "f[1,4,4,2]", 0},
    {"Conv", "f[1,3,8] f[4,3,3]", "strides=2, pads=1,1", "f[1,4,4]", 0},
    {"Conv", "f[2,6,8,8] f[6,1,3,3]", "group=6 kernel_shape=3,3", "f[2,6,6,6]", 0},
    {"Conv", "f[0,3,8,8] f[4,3,3,3]", "", "f[0,4,6,6]", 0},
    {"Conv", "f[1,3,9,8] f[4,3,3,3]", "auto_pad=SAME_UPPER strides=2,2", "f[1,4,5,4]", 0},
    {"Conv", "f[1,3,9,8] f[4,3,3,3]", "auto_pad=SAME_LOWER strides=3,3", "f[1,4,3,3]", 0},
    {"Conv", "f[1,3,9,8] f[4,3,1,1]", "auto_pad=SAME_UPPER strides=4,4", "f[1,4,3,2]", 0},
    {"Conv", "f[1,3,9,8] f[4,3,3,3]", "auto_pad=VALID", "f[1,4,7,6]", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "auto_pad=SAME", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,2,2] f[4,3,3,3]", "", "SHAPE", 0},
    {"Conv", "f[1,3,2,2] f[4,3,3,3]", "pads=1,1,0,0", "f[1,4,1,1]", 0},
    {"Conv", "f[1,3,0,8] f[4,3,3,3]", "pads=5,5,5,5", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,2,3,3]", "", "SHAPE", 0},
    {"Conv", "f[1,4,8,8] f[5,2,3,3]", "group=2", "SHAPE", 0},
    {"Conv", "f[1,5,8,8] f[4,2,3,3]", "group=2", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "group=0", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "group=-1", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3] f[5]", "", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3] f[1,4]", "", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "kernel_shape=3,4", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "kernel_shape=3,3,3", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,0,3]", "", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3]", "", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "strides=0,1", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "strides=1,-1", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "strides=2,", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "dilations=0,1", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "dilations=2147483647,1", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "pads=1,1", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "pads=-1,0,0,0", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "pads=9223372036854775807,0,0,0", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "pads=2147483647,0,2147483647,0", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,3,3]", "dilations=2147483647,1 auto_pad=SAME_UPPER", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] f[4,3,1,1]", "strides=2147483647,1 pads=2147483647,0,2147483647,0",
     "SHAPE", 0},
    {"Conv", "f[1,3,4,5,6] f[4,3,3,3,3]", "strides=2,1,1", "f[1,4,1,3,4]", 0},
    {"Conv", "f[1,3,4,4,4,4] f[4,3,3,3,3,3]", "", "UNSUPPORTED", 0},
    {"Conv", "f[1,3] f[4,3]", "", "SHAPE", 0},
    {"Conv", "f[1,3,8,8] h[4,3,3,3]", "", "INVALID_MODEL", 0},
    {"Conv", "f[1,3,8,8] -", "", "INVALID_MODEL", 0},
    {"ConvTranspose", "f[1,8,4,4] f[8,3,4,4] f[3]", "strides=2,2 pads=1,1,1,1", "f[1,3,8,8]", 0},
    {"ConvTranspose", "f[1,8,4,4] f[8,3,3,3]", "strides=2,2 pads=1,1,1,1 output_padding=1,1",
     "f[1,3,8,8]", 0},
    {"ConvTranspose", "f[1,8,4] f[8,3,3]", "strides=3, dilations=2,", "f[1,3,14]", 0},
    {"ConvTranspose", "f[1,8,4,4] f[8,3,2,2]", "group=4 strides=2,2", "f[1,12,8,8]", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "strides=3,2 output_shape=10,8", "f[1,2,10,8]", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "strides=2,2 auto_pad=SAME_UPPER", "f[1,2,6,6]", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,1,1]", "strides=2,2 auto_pad=SAME_LOWER", "f[1,2,5,5]", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "auto_pad=VALID pads=9,9,9,9", "f[1,2,5,5]", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "pads=2,2,3,3", "SHAPE", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]",
     "strides=2147483647,1 pads=2147483647,0,2147483640,0", "SHAPE", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "output_shape=0,8", "INVALID_MODEL", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "output_shape=1,2,8,8", "INVALID_MODEL", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "strides=2,2 output_padding=2,0", "INVALID_MODEL",
     0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "dilations=3,3 output_padding=2,0", "f[1,2,11,9]",
     0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "output_padding=-1,0", "INVALID_MODEL", 0},
    {"ConvTranspose", "f[1,8,3,3] f[6,2,3,3]", "", "SHAPE", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3]", "group=3", "SHAPE", 0},
    {"ConvTranspose", "f[1,8,3,3] f[8,2,3,3] f[2]", "group=2", "SHAPE", 0},
    {"ConvTranspose", "f[1,8,0,3] f[8,2,3,3]", "", "SHAPE", 0},
    {"ConvTranspose", "f[1,1,2147483647,1] f[1,1,2147483647,1]",
     "strides=2147483647,1 dilations=2147483647,1 output_padding=2147483646,0", "SHAPE", 0},
};

static const infer_case pool_cases[] = {
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=2,2 strides=2,2", "f[1,3,4,4]", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=2,2 storage_order=1", "f[1,3,7,7] i[1,3,7,7]", 0},
    {"MaxPool", "f[1,3,8]", "kernel_shape=3, strides=2,", "f[1,3,3]", 0},
    {"MaxPool", "f[1,3,8]", "kernel_shape=3, strides=2, ceil_mode=1", "f[1,3,4]", 0},
    {"MaxPool", "f[1,3,4]", "kernel_shape=1, strides=2, ceil_mode=1", "f[1,3,2]", 0},
    {"MaxPool", "f[1,1,2,2]", "kernel_shape=1,1 strides=2,2 ceil_mode=1", "f[1,1,1,1]", 0},
    {"MaxPool", "f[1,1,4]", "kernel_shape=3, strides=3, pads=1,1 ceil_mode=1", "f[1,1,2]", 0},
    {"MaxPool", "f[1,1,2]", "kernel_shape=3, strides=2, ceil_mode=1", "f[1,1,1]", 0},
    {"MaxPool", "f[1,1,2]", "kernel_shape=3, strides=2,", "SHAPE", 0},
    {"MaxPool", "f[1,1,2]", "kernel_shape=5, strides=2, ceil_mode=1", "SHAPE", 0},
    {"MaxPool", "f[1,1,5]", "kernel_shape=2, dilations=3,", "f[1,1,2]", 0},
    {"MaxPool", "f[1,3,5,5]", "kernel_shape=3,3 strides=2,2 auto_pad=SAME_LOWER", "f[1,3,3,3]", 0},
    {"MaxPool", "f[1,3,6,6]", "kernel_shape=3,3 strides=2,2 auto_pad=VALID ceil_mode=1",
     "f[1,3,2,2]", 0},
    {"MaxPool", "f[1,3,8,8]", "", "INVALID_MODEL", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=2,", "INVALID_MODEL", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=0,2", "INVALID_MODEL", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=2,2 pads=2,0,0,0", "INVALID_MODEL", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=2,2 pads=0,0,0,2", "INVALID_MODEL", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=2,2 storage_order=2", "INVALID_MODEL", 0},
    {"MaxPool", "f[1,3,8,8]", "kernel_shape=9,2", "SHAPE", 0},
    {"MaxPool", "f[1,3,8,0]", "kernel_shape=1,1", "SHAPE", 0},
    {"MaxPool", "f[1,3,7,8,9]", "kernel_shape=2,3,4", "f[1,3,6,6,6]", 0},
    {"MaxPool", "f[1,3,7,8,9]", "kernel_shape=3,2,2 pads=1,0,0,2,0,1", "f[1,3,8,7,9]", 0},
    {"MaxPool", "f[1,3,8,8,8,8]", "kernel_shape=2,2,2,2", "UNSUPPORTED", 0},
    {"MaxPool", "u[1,3,8,8]", "kernel_shape=2,2", "UNSUPPORTED", 0},
    {"AveragePool", "f[1,3,8,8]", "kernel_shape=3,3 pads=1,1,1,1", "f[1,3,8,8]", 0},
    {"AveragePool", "f[1,3,8,8]", "kernel_shape=3,3 dilations=2,2 count_include_pad=1",
     "f[1,3,4,4]", 0},
    {"AveragePool", "f[1,3,8,8]", "kernel_shape=3,3 strides=2,2 ceil_mode=1", "f[1,3,4,4]", 0},
    {"AveragePool", "f[1,3,8,8]", "kernel_shape=3,3", "INVALID_MODEL", 2},
    {"GlobalAveragePool", "f[2,3,8,9]", "", "f[2,3,1,1]", 0},
    {"GlobalAveragePool", "f[2,3,8]", "", "f[2,3,1]", 0},
    {"GlobalAveragePool", "f[2,3]", "", "SHAPE", 0},
    {"GlobalAveragePool", "f[2,3,0,4]", "", "SHAPE", 0},
    {"GlobalAveragePool", "f[2,3,4,4,4]", "", "f[2,3,1,1,1]", 0},
    {"GlobalMaxPool", "f[2,3,8,9]", "", "f[2,3,1,1]", 0},
    {"GlobalMaxPool", "f[2,3,0,4]", "", "SHAPE", 0},
};

static const infer_case axis_cases[] = {
    {"Concat", "f[1,2,4] f[1,3,4]", "axis=1", "f[1,5,4]", 0},
    {"Concat", "f[1,2,4] f[1,0,4] f[1,1,4]", "axis=-2", "f[1,3,4]", 0},
    {"Concat", "i[2]", "axis=0", "i[2]", 0},
    {"Concat", "f[1,2] f[1,3]", "", "INVALID_MODEL", 0},
    {"Concat", "f[1,2] f[1,3]", "axis=2", "INVALID_MODEL", 0},
    {"Concat", "f[1,2] f[2,2]", "axis=1", "SHAPE", 0},
    {"Concat", "f[1,2] f[2]", "axis=1", "SHAPE", 0},
    {"Concat", "f[1,2] i[1,2]", "axis=1", "INVALID_MODEL", 0},
    {"Concat", "f[1,2] -", "axis=1", "INVALID_MODEL", 0},
    {"Concat", "f[] f[]", "axis=0", "INVALID_MODEL", 0},
    {"Concat", "f[2147483647] f[1]", "axis=0", "SHAPE", 0},
    {"Concat", "", "axis=0", "INVALID_MODEL", 0},
    {"Split", "f[6,2]", "", "f[3,2] f[3,2]", 0},
    {"Split", "f[2,7]", "axis=-1 num_outputs=3", "f[2,3] f[2,3] f[2,1]", 0},
    {"Split", "f[6,2] i[3]=1,0,5", "axis=0", "f[1,2] f[0,2] f[5,2]", 0},
    {"Split", "f[7,2]", "", "SHAPE", 2},
    {"Split", "f[5,2]", "num_outputs=4", "SHAPE", 4},
    {"Split", "f[6,2]", "num_outputs=3", "INVALID_MODEL", 2},
    {"Split", "f[6,2] i[2]=3,4", "", "SHAPE", 2},
    {"Split", "f[6,2] i[2]=3,2", "", "SHAPE", 2},
    {"Split", "f[6,2] i[2]=-1,7", "", "INVALID_MODEL", 2},
    {"Split", "f[6,2] i[2]=9223372036854775807,9223372036854775807", "", "SHAPE", 2},
    {"Split", "f[6,2] i[2]=3,3", "", "INVALID_MODEL", 3},
    {"Split", "f[6,2] i[2]=3,3", "num_outputs=2", "INVALID_MODEL", 2},
    {"Split", "f[6,2] i[2]", "", "UNSUPPORTED", 2},
    {"Split", "f[6,2] f[2]=3,3", "", "INVALID_MODEL", 2},
    {"Split", "f[6,2]", "axis=2", "INVALID_MODEL", 2},
    {"Slice", "f[4,6] i[2]=1,0 i[2]=3,100", "", "f[2,6]", 0},
    {"Slice", "f[4,6] i[1]=-3 i[1]=-1 i[1]=1", "", "f[4,2]", 0},
    {"Slice", "f[4,6] i[1]=0 i[1]=9223372036854775807 i[1]=-1 i[1]=4", "", "f[4,2]", 0},
    {"Slice", "f[4,6] i[1]=-1 i[1]=-9223372036854775808 i[1]=1 i[1]=-1", "", "f[4,6]", 0},
    {"Slice", "f[4,6] i[1]=5 i[1]=0 i[1]=1 i[1]=-9223372036854775808", "", "f[4,1]", 0},
    {"Slice", "f[4,6] i[1]=4 i[1]=2 i[1]=1", "", "f[4,0]", 0},
    {"Slice", "f[0,6] i[1]=-5 i[1]=-9 i[1]=0 i[1]=-1", "", "f[0,6]", 0},
    {"Slice", "f[4,6] i[0]= i[0]=", "", "f[4,6]", 0},
    {"Slice", "f[4,6] j[1]=1 j[1]=3", "", "f[2,6]", 0},
    {"Slice", "f[4,6] i[1]=0 i[1]=1 i[1]=0 i[1]=0", "", "INVALID_MODEL", 0},
    {"Slice", "f[4,6] i[1]=0 i[2]=1,1", "", "INVALID_MODEL", 0},
    {"Slice", "f[4,6] i[2]=0,0 i[2]=1,1 i[2]=1,-1", "", "INVALID_MODEL", 0},
    {"Slice", "f[4,6] i[1]=0 i[1]=1 i[1]=2", "", "INVALID_MODEL", 0},
    {"Slice", "f[4] i[2]=0,0 i[2]=1,1", "", "INVALID_MODEL", 0},
    {"Slice", "f[4] i[9]=0,0,0,0,0,0,0,0,0 i[9]=1,1,1,1,1,1,1,1,1", "", "INVALID_MODEL", 0},
    {"Slice", "f[4,6] i[1] i[1]=1", "", "UNSUPPORTED", 0},
    {"Slice", "f[4,6] i[1,1]=0 i[1]=1", "", "SHAPE", 0},
    {"Pad", "f[1,3,4,4] i[8]=0,0,1,2,0,0,3,4", "", "f[1,3,8,10]", 0},
    {"Pad", "f[4,4] i[4]=-1,0,0,-2 f[]=7", "", "f[3,2]", 0},
    {"Pad", "f[4,4] i[2]=1,2 - i[1]=-1", "mode=edge", "f[4,7]", 0},
    {"Pad", "f[4,4] i[4]=3,0,3,0", "mode=reflect", "f[10,4]", 0},
    {"Pad", "f[4,4] i[4]=4,0,0,0", "mode=reflect", "SHAPE", 0},
    {"Pad", "f[4,4] i[4]=3,0,-1,0", "mode=reflect", "SHAPE", 0},
    {"Pad", "f[0,4] i[4]=1,0,0,0", "mode=edge", "SHAPE", 0},
    {"Pad", "f[0,4] i[4]=1,0,0,0", "", "f[1,4]", 0},
    {"Pad", "f[2,4] i[4]=-3,0,4,0", "", "SHAPE", 0},
    {"Pad", "f[4,4] i[4]=1,0,0,0", "mode=wrap", "UNSUPPORTED", 0},
    {"Pad", "f[4,4] i[4]=1,0,0,0", "mode=mirror", "INVALID_MODEL", 0},
    {"Pad", "f[4,4] i[3]=1,0,0", "", "INVALID_MODEL", 0},
    {"Pad", "f[4,4] i[2]=1,0", "", "INVALID_MODEL", 0},
    {"Pad", "f[4,4] i[4]=1,0,0,0 - i[2]=0,-2", "", "INVALID_MODEL", 0},
    {"Pad", "f[4,4] i[4]=9223372036854775807,0,9223372036854775807,0", "", "INVALID_MODEL", 0},
    {"Pad", "f[4,4] i[4]=0,0,0,0 i[]=1", "", "INVALID_MODEL", 0},
    {"Gather", "f[5,6] i[]=2", "", "f[6]", 0},
    {"Gather", "i[4] i[1]=-1", "", "i[1]", 0},
    {"Gather", "f[5,6] i[2,3]", "axis=-1", "f[5,2,3]", 0},
    {"Gather", "f[5,6] i[0]", "", "f[0,6]", 0},
    {"Gather", "f[5,6] j[1]=5", "", "INVALID_MODEL", 0},
    {"Gather", "f[5,6] f[1]=0", "", "INVALID_MODEL", 0},
    {"Gather", "f[5,6] i[1]=0", "axis=2", "INVALID_MODEL", 0},
    {"Gather", "f[1,1,1,1,1,1] i[1,1,1,1]", "", "UNSUPPORTED", 0},
};

static const infer_case rearranging_cases[] = {
    {"Reshape", "f[2,3,4] i[2]=6,4", "", "f[6,4]", 0},
    {"Reshape", "f[2,3,4] i[3]=0,-1,2", "", "f[2,6,2]", 0},
    {"Reshape", "f[1] i[0]=", "", "f[]", 0},
    {"Reshape", "f[0,4] i[2]=4,0", "allowzero=1", "f[4,0]", 0},
    {"Reshape", "f[0,4] i[2]=0,-1", "", "SHAPE", 0},
    {"Reshape", "f[0,4] i[2]=-1,4", "", "f[0,4]", 0},
    {"Reshape", "f[0,4] i[2]=-1,0", "allowzero=1", "INVALID_MODEL", 0},
    {"Reshape", "f[2,3] i[2]=4,-1", "", "SHAPE", 0},
    {"Reshape", "f[2,3] i[2]=4,2", "", "SHAPE", 0},
    {"Reshape", "f[2,3] i[2]=-1,-1", "", "INVALID_MODEL", 0},
    {"Reshape", "f[2,3] i[2]=-2,-3", "", "INVALID_MODEL", 0},
    {"Reshape", "f[2,3] i[3]=2,3,0", "", "INVALID_MODEL", 0},
    {"Reshape", "f[4] i[3]=2147483647,2147483647,2147483647", "", "SHAPE", 0},
    {"Reshape", "f[4] i[1]=9223372036854775807", "", "INVALID_MODEL", 0},
    {"Reshape", "f[1] i[9]=1,1,1,1,1,1,1,1,1", "", "UNSUPPORTED", 0},
    {"Reshape", "f[2,3] i[2]", "", "UNSUPPORTED", 0},
    {"Reshape", "f[2,3] i[]=6", "", "f[6]", 0},
    {"Reshape", "f[2,3] i[1,2]=3,2", "", "SHAPE", 0},
    {"Reshape", "f[2,3] f[2]=3,2", "", "INVALID_MODEL", 0},
    {"Flatten", "f[2,3,4]", "", "f[2,12]", 0},
    {"Flatten", "f[2,3,4]", "axis=0", "f[1,24]", 0},
    {"Flatten", "f[2,3,4]", "axis=3", "f[24,1]", 0},
    {"Flatten", "f[2,3,4]", "axis=-1", "f[6,4]", 0},
    {"Flatten", "f[]", "axis=0", "f[1,1]", 0},
    {"Flatten", "f[2,3,4]", "axis=4", "INVALID_MODEL", 0},
    {"Flatten", "f[0,2147483647,2147483647,4]", "", "SHAPE", 0},
    {"Squeeze", "f[1,3,1]", "", "f[3]", 0},
    {"Squeeze", "f[1,3,1] i[1]=-1", "", "f[1,3]", 0},
    {"Squeeze", "f[1,3,1] i[1]=1", "", "SHAPE", 0},
    {"Squeeze", "f[1,3,1] i[2]=0,-3", "", "INVALID_MODEL", 0},
    {"Squeeze", "f[1,3,1] i[1]=3", "", "INVALID_MODEL", 0},
    {"Squeeze", "f[1] i[3]=0,0,0", "", "INVALID_MODEL", 0},
    {"Unsqueeze", "f[0,3] i[2]=0,-1", "", "f[1,0,3,1]", 0},
    {"Unsqueeze", "f[] i[1]=0", "", "f[1]", 0},
    {"Unsqueeze", "f[3] i[2]=0,0", "", "INVALID_MODEL", 0},
    {"Unsqueeze", "f[3] i[1]=2", "", "INVALID_MODEL", 0},
    {"Unsqueeze", "f[3] -", "", "INVALID_MODEL", 0},
    {"Unsqueeze", "f[1,1,1,1,1,1,1,1] i[1]=0", "", "UNSUPPORTED", 0},
    {"Transpose", "f[2,3,4]", "", "f[4,3,2]", 0},
    {"Transpose", "f[2,3,4]", "perm=1,2,0", "f[3,4,2]", 0},
    {"Transpose", "f[]", "", "f[]", 0},
    {"Transpose", "f[2,3]", "perm=0,0", "INVALID_MODEL", 0},
    {"Transpose", "f[2,3]", "perm=0,2", "INVALID_MODEL", 0},
    {"Transpose", "f[2,3]", "perm=0,-1", "INVALID_MODEL", 0},
    {"Transpose", "f[2,3]", "perm=0,1,2", "INVALID_MODEL", 0},
    {"DepthToSpace", "f[1,8,2,3]", "blocksize=2", "f[1,2,4,6]", 0},
    {"DepthToSpace", "f[1,8,2,3]", "blocksize=2 mode=CRD", "f[1,2,4,6]", 0},
    {"DepthToSpace", "f[1,8,2,3]", "blocksize=2 mode=RCD", "INVALID_MODEL", 0},
    {"DepthToSpace", "f[1,6,2,3]", "blocksize=2", "SHAPE", 0},
    {"DepthToSpace", "f[1,8,2,3]", "blocksize=0", "INVALID_MODEL", 0},
    {"DepthToSpace", "f[1,8,2,3]", "blocksize=4294967296", "INVALID_MODEL", 0},
    {"DepthToSpace", "f[1,8,2]", "blocksize=2", "SHAPE", 0},
    {"SpaceToDepth", "f[1,2,4,6]", "blocksize=2", "f[1,8,2,3]", 0},
    {"SpaceToDepth", "f[1,2,4,5]", "blocksize=2", "SHAPE", 0},
    {"SpaceToDepth", "f[1,2,4,6]", "", "INVALID_MODEL", 0},
    {"SpaceToDepth", "f[1,2147483647,0,0]", "blocksize=2147483647", "SHAPE", 0},
    {"Shape", "f[2,3,4]", "", "i[3]", 0},
    {"Shape", "f[2,3,4]", "start=-2 end=9", "i[2]", 0},
    {"Shape", "f[2,3,4]", "start=2 end=1", "i[0]", 0},
    {"Shape", "f[]", "start=-9223372036854775808", "i[0]", 0},
};

static const infer_case resize_cases[] = {
    {"GridSample", "f[2,3,4,5] f[2,6,7,2]", "", "f[2,3,6,7]", 0},
    {"GridSample", "h[2,3,4,5] f[2,6,7,2]", "mode=cubic padding_mode=border align_corners=1",
     "h[2,3,6,7]", 0},
    {"GridSample", "f[2,3,4,5] f[2,0,7,2]", "mode=nearest padding_mode=reflection", "f[2,3,0,7]",
     0},
    {"GridSample", "f[2,3,4,5] f[2,6,7,2]", "mode=bilinear", "INVALID_MODEL", 0},
    {"GridSample", "f[2,3,4,5] f[2,6,7,2]", "padding_mode=mirror", "INVALID_MODEL", 0},
    {"GridSample", "f[2,3,4,5] i[2,6,7,2]", "", "INVALID_MODEL", 0},
    {"GridSample", "i[2,3,4,5] f[2,6,7,2]", "", "UNSUPPORTED", 0},
    {"GridSample", "f[2,3,4,5,6] f[2,6,7,8,3]", "", "UNSUPPORTED", 0},
    {"GridSample", "f[2,3,4] f[2,6,1]", "", "SHAPE", 0},
    {"GridSample", "f[2,3,4,5] f[6,7,2]", "", "SHAPE", 0},
    {"GridSample", "f[2,3,4,5] f[1,6,7,2]", "", "SHAPE", 0},
    {"GridSample", "f[2,3,4,5] f[2,6,7,3]", "", "SHAPE", 0},
    {"GridSample", "f[2,3,0,5] f[2,6,7,2]", "", "SHAPE", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,2,3", "", "f[1,1,4,12]", 0},
    {"Resize", "f[1,1,2,4] f[0]= f[4]=1,1,0.6,0.6", "mode=linear", "f[1,1,1,2]", 0},
    {"Resize", "f[1,1,2,4] - f[0]= i[4]=1,1,7,8", "mode=cubic", "f[1,1,7,8]", 0},
    {"Resize", "f[1,1,2,4] - - i[2]=7,8", "axes=3,2", "f[1,1,8,7]", 0},
    {"Resize", "f[1,1,2,4] - - i[2]=7,8", "axes=2,-1 keep_aspect_ratio_policy=not_larger",
     "f[1,1,4,8]", 0},
    {"Resize", "f[1,1,2,4] - - i[2]=7,8", "axes=2,3 keep_aspect_ratio_policy=not_smaller",
     "f[1,1,7,14]", 0},
    {"Resize", "f[1,1,4,4] f[4]=0.4,0.6,0.6,0.8 - i[2]=3,3",
     "axes=2,3 coordinate_transformation_mode=tf_crop_and_resize", "f[1,1,3,3]", 0},
    {"Resize", "f[1,1,4,4] - - i[4]=1,1,3,3", "coordinate_transformation_mode=tf_crop_and_resize",
     "INVALID_MODEL", 0},
    {"Resize", "f[1,1,4,4] f[2]=0,1 - i[4]=1,1,3,3",
     "coordinate_transformation_mode=tf_crop_and_resize", "INVALID_MODEL", 0},
    {"Resize", "f[0,1,2,4] - f[4]=1,1,2,3", "", "f[0,1,4,12]", 0},
    {"Resize", "f[0,1,2,4] - - i[4]=0,1,4,12", "", "f[0,1,4,12]", 0},
    {"Resize", "f[0,1,2,4] - - i[4]=1,1,4,12", "", "SHAPE", 0},
    {"Resize", "f[1,1,2,4]", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,2,3 i[4]=1,1,2,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]", "", "UNSUPPORTED", 0},
    {"Resize", "f[1,1,2,4] - f[3]=1,2,3", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,0,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,-1,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,nan,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,1e30,2", "", "SHAPE", 0},
    {"Resize", "f[1,1,2,4] - - i[4]=1,1,0,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - - i[4]=1,1,-1,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - - i[2]=2,2", "axes=2,2", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - - i[1]=2", "axes=2,3", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - - f[4]=1,1,2,2", "", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,2,3", "mode=bilinear", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,2,3", "nearest_mode=up", "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,2,3", "coordinate_transformation_mode=corners",
     "INVALID_MODEL", 0},
    {"Resize", "f[1,1,2,4] - - i[4]=1,1,2,3", "keep_aspect_ratio_policy=maybe", "INVALID_MODEL", 0},
    {"Resize", "f[1,2147483647] - - i[2]=2147483647,1", "keep_aspect_ratio_policy=not_smaller",
     "SHAPE", 0},
    {"Resize", "u[1,1,2,4] - f[4]=1,1,2,3", "", "u[1,1,4,12]", 0},
    {"Resize", "u[1,1,2,4] - f[4]=1,1,2,3", "mode=linear", "UNSUPPORTED", 0},
    {"Resize", "f[1,1,2,4] - f[4]=1,1,2,3", "mode=linear antialias=1", "UNSUPPORTED", 0},
};

static bool is_status(const char *text) {
    return text[0] >= 'A' && text[0] <= 'Z';
}

static int count_words(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += text[0] != ' ' && (text[1] == ' ' || text[1] == '\0');
    return count;
}

static void check_outputs(const infer_case *c, tsr_graph *graph) {
    char *text = tsr_arena_strndup(graph->arena, c->expected, strlen(c->expected)), *word;
    for (int i = 0; (word = next_word(&text)); i++) {
        const tsr_value *expected = &graph->values[parse_tensor(graph, word, "expected")];
        tsr_shape shape = expected->shape;
        tsr_dtype dtype = expected->dtype;
        const tsr_value *out = tsr_node_out(graph, &graph->nodes[0], i);
        if (out->dtype != dtype || !tsr_shape_equal(&out->shape, &shape))
            fail_msg("%s (%s) {%s}: output %d is %s%s instead of %s", c->op, c->inputs, c->attrs, i,
                     tsr_dtype_name(out->dtype), tsr_shape_text(&out->shape), word);
    }
}

static void check_case(const infer_case *c) {
    bool fails = is_status(c->expected);
    int outputs = !fails ? count_words(c->expected) : c->outputs ? c->outputs : 1;
    tsr_graph *graph = make_node(c->op, c->inputs, c->attrs, outputs);
    tsr_status status = tsr_infer_node(graph, &graph->nodes[0]);
    const char *expected = fails ? c->expected : "OK";
    if (strcmp(tsr_status_name(status), expected) != 0)
        fail_msg("%s (%s) {%s}: %s instead of %s: %s", c->op, c->inputs, c->attrs,
                 tsr_status_name(status), expected, tsr_last_error());
    if (status == TSR_OK)
        check_outputs(c, graph);
    else
        assert_non_null(strstr(tsr_last_error(), "case.onnx: node 'n' ("));
    tsr_graph_destroy(graph);
}

#define TABLE_TEST(table)                                                                          \
    static void test_##table(void **state) {                                                       \
        (void)state;                                                                               \
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)                                \
            check_case(&table[i]);                                                                 \
    }
TABLE_TEST(elementwise_cases)
TABLE_TEST(normalization_cases)
TABLE_TEST(conv_cases)
TABLE_TEST(pool_cases)
TABLE_TEST(axis_cases)
TABLE_TEST(rearranging_cases)
TABLE_TEST(resize_cases)

static void test_message(void **state) {
    (void)state;
    tsr_graph *graph = make_node("Add", "f[2,3] f[2,2]", "", 1);
    assert_int_equal(tsr_infer_node(graph, &graph->nodes[0]), TSR_ERROR_SHAPE);
    assert_string_equal(tsr_last_error(),
                        "case.onnx: node 'n' (Add of [2, 3], [2, 2]): shapes [2, 3] and [2, 2] "
                        "cannot be broadcast together");
    tsr_graph_destroy(graph);
}

int run_program(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elementwise_cases), cmocka_unit_test(test_normalization_cases),
        cmocka_unit_test(test_conv_cases),        cmocka_unit_test(test_pool_cases),
        cmocka_unit_test(test_axis_cases),        cmocka_unit_test(test_rearranging_cases),
        cmocka_unit_test(test_resize_cases),      cmocka_unit_test(test_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
