/* Writes the seeds of fuzz_onnx into a folder: a small model for every operator and attribute,
 * every form of a tensor, and damaged copies of all. Fails if an operator of ops.def has no model
 * here. */
#include "graph/graph.h"
#include "support/model_function.h"
#include "support/onnx_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    int opset;
    const char *text;
} cases[] = {
#define TSR_UNARY(Name, stem, types) {22, #Name " x[1,5,3,3] -> y"},
#include "graph/ops.def"
    {16, "LeakyRelu x[N,4,H,W] -> y alpha=0.2"},
    {13, "Sigmoid x[2,3] -> y"},
    {13, "Tanh x[] -> y"},
    {6, "HardSigmoid x[1,4] -> y alpha=0.3 beta=0.4"},
    {13, "Exp x[3] -> y"},
    {22, "Elu x[1,5,3,3] -> y alpha=1.5"},
    {14, "Add x[1,4,4,4] b{4,1,1} -> y"},
    {6, "Add x[1,4,4,4] b{4} -> y broadcast=1 axis=1"},
    {14, "Sub x[1,4,4,4] z[4,1,4] -> y"},
    {14, "Mul x[1,4,4,4] k<2 -> y"},
    {14, "Div x[1,4,4,4] d{1,4,1,1} -> y"},
    {16, "PRelu x[1,4,4,4] s{4,1,1} -> y"},
    {15, "Pow x[1,4,4,4] k<2 -> y"},
    {13, "Mod x[1,4] d{1,4} -> y fmod=1"},
    {13, "Mod x:int64[1,4] d:int64[4] -> y"},
    {13, "Max x[1,4] d[4] k<1 -> y"},
    {13, "Min x[1,4] d[4] -> y"},
    {13, "Sum x[1,4] d[4] k<1 -> y"},
    {13, "Mean x[1,4] d[4] k<1 -> y"},
    {19, "Equal x[1,4] d[4] -> y"},
    {13, "Greater x[1,4] d[4] -> y"},
    {16, "GreaterOrEqual x[1,4] d[4] -> y"},
    {13, "Less x[1,4] d[4] -> y"},
    {16, "LessOrEqual x[1,4] d[4] -> y"},
    {7, "And x:bool[1,4] d:bool[4] -> y"},
    {7, "Or x:bool[1,4] d:bool[4] -> y"},
    {7, "Xor x:bool[1,4] d:bool[4] -> y"},
    {18, "BitwiseAnd x:uint8[1,4] d:uint8[4] -> y"},
    {18, "BitwiseOr x:uint8[1,4] d:uint8[4] -> y"},
    {18, "BitwiseXor x:int32[1,4] d:int32[4] -> y"},
    {18, "BitwiseNot x:int32[1,4] -> y"},
    {11, "BitShift x:uint8[1,4] d:uint8[4] -> y direction=LEFT"},
    {13, "Relu a[1,4] -> x; If c:bool[] -> y then_branch=@1 else_branch=@2 @ Relu x -> y "
         "@ Neg x -> y"},
    {13, "Relu a[2] -> x; Loop n(3) _ x -> y z body=@1 @ Cast i:int64[] -> f to=1; "
         "Identity c:bool[] -> g!; Add s[2] x -> t!; Mul f s -> p"},
    {13, "Relu a[2] -> x; Cast k<1 -> c to=9; Loop _ c x -> y body=@1 @ Cast i:int64[] -> f to=1; "
         "Identity c:bool[] -> d; Less f k3<3 -> g!; If g -> t then_branch=@2 else_branch=@3 "
         "@ Add x f -> t @ Mul x f -> t"},
    {8, "Scan _ s[3,2] x[3,4,2] -> t y body=@1 num_scan_inputs=1 directions=1, "
        "@ Add s[2] p[2] -> t!; Mul s p -> u"},
    {11, "Scan s[2] x[4,2] -> t y body=@1 num_scan_inputs=1 scan_input_axes=0, "
         "scan_input_directions=1, scan_output_axes=-1, scan_output_directions=1, "
         "@ Add s[2] p[2] -> t!; Mul s p -> u"},
    {13, "NonZero x[3,4] -> y"},
    {11, "Compress x[3,4] c:bool[3] -> y axis=0"},
    {11, "Compress x[3,4] c:bool[5] -> y"},
    {11, "Unique x[3,4] -> y i j n axis=1 sorted=0"},
    {11, "NonMaxSuppression x[1,6,4] s[1,2,6] k(3) t<0.5 u<0.25 -> y center_point_box=1"},
    {19, "DeformConv x[1,2,5,5] w{2,2,3,3} o[1,18,3,3] b{2} m[1,9,3,3] -> y"},
    {22, "DeformConv x[1,4,5,5] w{2,2,2,2} o[1,16,4,4] -> y group=2 offset_group=2 "
         "kernel_shape=2,2 strides=1,1 pads=0,0,0,0 dilations=1,1"},
    {16, "Where c:bool[4] x[1,4] d[3,1] -> y"},
    {20, "IsInf x[1,4] -> y detect_negative=0"},
    {20, "IsNaN x[1,4] -> y"},
    {13, "Clip x[1,4] lo[] hi[] -> y"},
    {6, "PRelu x[1,4,4,4] s{4} -> y"},
    {13, "Clip x[1,4,4,4] lo<0.0 hi<6 -> y"},
    {6, "Clip x[1,4,4,4] -> y min=0.0 max=6.0"},
    {1, "Not x:bool[2,3] -> y"},
    {14, "Sub x:int8[2,3] z:int8[3] -> y"},
    {11, "Conv x[1,4,9,9] w{8,2,3,3} b{8} -> y kernel_shape=3,3 strides=2,1 pads=1,0,2,1 "
         "dilations=1,2 group=2"},
    {22, "Conv x[1,4,5,4,3] w{6,2,3,2,1} b{6} -> y pads=1,0,0,2,1,0 group=2"},
    {22, "MaxPool x[1,4,5,4,3] -> y i kernel_shape=3,2,1 strides=2,1,1"},
    {22, "AveragePool x[1,4,5,4,3] -> y kernel_shape=3,2,1 pads=1,0,0,1,1,0"},
    {22, "Conv x[1,4,9] w{8,4,3} -> y auto_pad=SAME_UPPER strides=2,"},
    {11, "Conv x[1,4,9,9] w{4,1,3,3} -> y auto_pad=SAME_LOWER group=4"},
    {11, "ConvTranspose x[1,4,3,3] w{4,6,4,4} b{6} -> y strides=2,2 pads=1,1,1,1 "
         "output_padding=1,0 dilations=1,1 group=1 kernel_shape=4,4"},
    {11, "ConvTranspose x[1,4,3,3] w{4,6,3,3} -> y strides=3,2 output_shape=10,8"},
    {11, "ConvTranspose x[1,4,7] w{4,3,3} -> y auto_pad=SAME_UPPER strides=2, group=2"},
    {13, "ConvWeightGrad x[2,4,9,9] g[2,8,5,7] -> w kernel_shape=3,3 strides=2,1 pads=1,0,2,1 "
         "dilations=1,2 group=2"},
    {13, "ConvWeightGrad x[1,4,5,4,3] g[1,6,4,4,2] -> w kernel_shape=3,2,2 pads=1,0,0,0,1,0"},
    {13, "AdamUpdate x[3,5,2] g[3,5,2] v[3,5,2] h{3,5,2} f<1,0.5,1,0.9> -> a b c alpha=0.5 "
         "beta=0.75 epsilon=0.125 norm_coefficient=0.25"},
    {13, "LeakyReluGrad g[1,5,3,2] x[1,5,3,2] -> y alpha=0.25"},
    {13, "Gemm a[3,4] b{5,4} c{5} -> y alpha=0.5 beta=2.0 transB=1"},
    {13, "Gemm a[4,3] b{4,5} -> y transA=1"},
    {6, "Gemm a[3,4] b{4,5} c{5} -> y broadcast=1"},
    {13, "MatMul a[3,4] b{4,5} -> y"},
    {15, "BatchNormalization x[1,4,3,3] s{4} b{4} m{4} v{4} -> y epsilon=0.001 momentum=0.8 "
         "training_mode=0"},
    {15, "BatchNormalization x[1,4,3,3] s{4} b{4} m{4} v{4} -> y m1 v1 training_mode=1"},
    {7, "BatchNormalization x[1,4,3,3] s{4} b{4} m{4} v{4} -> y spatial=1"},
    {6, "BatchNormalization x[1,4,3,3] s{4} b{4} m{4} v{4} -> y is_test=1"},
    {6, "InstanceNormalization x[1,4,3,3] s{4} b{4} -> y epsilon=0.01"},
    {17, "LayerNormalization x[2,3,4] s{3,4} b{3,4} -> y m v axis=-2 epsilon=0.001 stash_type=1"},
    {13, "Softmax x[2,3,4] -> y axis=-2"},
    {13, "LogSoftmax x[2,3,4] -> y axis=-2"},
    {11, "Hardmax x[2,3,4] -> y"},
    {13, "Hardmax x[2,3,4] -> y axis=1"},
    {22, "LpNormalization x[2,3,4] -> y p=1"},
    {13, "MeanVarianceNormalization x[2,3,4,5] -> y"},
    {21, "GroupNormalization x[2,4,4,5] s{4} b{4} -> y num_groups=2"},
    {18, "GroupNormalization x[2,4,4,5] s{2} b{2} -> y num_groups=2"},
    {23, "RMSNormalization x[2,4,4,5] s{4,5} -> y axis=2"},
    {13, "LRN x[2,4,4,5] -> y size=3"},
    {13, "NegativeLogLikelihoodLoss x[2,4] t(1,3) w{4} -> y ignore_index=3"},
    {13, "SoftmaxCrossEntropyLoss x[2,4] t(1,3) -> y l reduction=none"},
    {13,
     "Adam k<0.1> t(3) x[2,4] y[3] g{2,4} h{3} v{2,4} q{3} s{2,4} r{3} -> a b c d e f alpha=0.5 "
     "beta=0.5 epsilon=0.1 norm_coefficient=0.1 norm_coefficient_post=0.1"},
    {13, "Adagrad k<0.1> t(3) x[2,4] g{2,4} h{2,4} -> y s decay_factor=0.5 epsilon=0.1 "
         "norm_coefficient=0.1"},
    {13, "Momentum k<0.1> t(3) x[2,4] g{2,4} v{2,4} -> y s alpha=0.5 beta=0.5 mode=nesterov "
         "norm_coefficient=0.1"},
    {13, "Mul x[2,4] w[4] -> m; ReduceSum m -> l keepdims=0; "
         "Gradient x z[4] -> a b xs=x|w| y=l"},
    {15, "CastLike x[2,4] t(1,3) -> y"},
    {25, "QuantizeLinear x[2,4] s{2} -> y axis=0 output_dtype=3"},
    {25, "QuantizeLinear x[2,4] s{1,4} -> y axis=0 block_size=2 precision=1 saturate=1"},
    {25, "DequantizeLinear x:uint8[2,4] s{2,2} -> y axis=1 block_size=2 output_dtype=1"},
    {11, "DynamicQuantizeLinear x[2,4] -> y s z"},
    {13, "Cast f<3> -> z to=2; QLinearConv x:uint8[1,2,5,5] a<0.5> z w:uint8[3,2,1,1] b<0.5> z "
         "c<0.5> z -> y "
         "auto_pad=NOTSET dilations=1,1 group=1 kernel_shape=1,1 pads=0,0,0,0 strides=1,1"},
    {21, "Cast f<3> -> z to=2; QLinearMatMul x:uint8[2,4] a<0.5> z w:uint8[4,3] b<0.5> z c<0.5> z "
         "-> y"},
    {10, "Cast f<3> -> z to=2; ConvInteger x:uint8[1,2,5,5] w:int8[3,2,1,1] z -> y "
         "auto_pad=NOTSET dilations=1,1 group=1 kernel_shape=1,1 pads=0,0,0,0 strides=1,1"},
    {10, "Cast f<3> -> z to=3; MatMulInteger x:uint8[2,4] w:int8[4,3] _ z -> y"},
    {18, "ReduceSum x[2,3,4] a(1,-1) -> y keepdims=0"},
    {11, "ReduceMean x[2,3,4] -> y axes=1,2"},
    {20, "ReduceMax x:bool[2,3,4] a(1) -> y"},
    {18, "ReduceMin x[2,3,4] -> y noop_with_empty_axes=1"},
    {18, "ReduceProd x[2,3,4] a(2) -> y"},
    {18, "ReduceL1 x[2,3,4] a(2) -> y"},
    {18, "ReduceL2 x[2,3,4] a(2) -> y"},
    {18, "ReduceSumSquare x[2,3,4] a(2) -> y"},
    {18, "ReduceLogSum x[2,3,4] a(2) -> y"},
    {18, "ReduceLogSumExp x[2,3,4] a(2) -> y"},
    {13, "ArgMax x[2,3,4] -> y axis=1 keepdims=0"},
    {13, "ArgMin x[2,3,4] -> y axis=-1 select_last_index=1"},
    {11, "Softmax x[2,3,4] -> y"},
    {12, "MaxPool x[1,4,7,7] -> y i kernel_shape=3,2 strides=2,2 pads=1,0,1,1 dilations=1,2 "
         "ceil_mode=1 storage_order=0"},
    {12, "MaxPool x[1,4,7] -> y kernel_shape=3, auto_pad=SAME_LOWER"},
    {13, "MaxPoolGrad x[1,4,7,7] g[1,4,4,3] -> y kernel_shape=3,2 strides=2,2 pads=1,0,1,1 "
         "dilations=1,2 ceil_mode=1"},
    {22, "AveragePool x[1,4,7,7] -> y kernel_shape=3,3 strides=2,1 pads=1,1,0,0 ceil_mode=1 "
         "count_include_pad=1 dilations=1,1"},
    {11, "AveragePool x[1,4,7,7] -> y kernel_shape=2,2 auto_pad=VALID"},
    {1, "GlobalAveragePool x[1,5,3,4] -> y"},
    {22, "GlobalMaxPool x[1,5,3,4] -> y"},
    {13, "Concat x[1,2,3,3] z[1,5,3,3] x -> y axis=1"},
    {13, "Split x[1,7,2,2] s(3,4) -> y z axis=1"},
    {18, "Split x[1,7,2,2] -> y z axis=1 num_outputs=2"},
    {11, "Split x[6] -> y z split=2,4 axis=0"},
    {14, "Trilu x[2,5,4] k(1) -> y upper=0"},
    {13, "GatherElements x[2,5,4] i:int64[2,3,4] -> y axis=1"},
    {13, "GatherND x[2,5,4] i(1,2) -> y"},
    {18, "ScatterElements x[5] i(1,2) u[2] -> y reduction=add"},
    {18, "ScatterND x[5,4] i(1) u[4] -> y reduction=max"},
    {9, "Scatter x[5] i(1,2) u[2] -> y"},
    {11, "TopK x[5,4] k(2) -> y i axis=0"},
    {9, "TopK x[5,4] -> y i k=2"},
    {14, "CumSum x[5,4] a(1) -> y reverse=1"},
    {26, "CumProd x[5,4] a(1) -> y reverse=1 exclusive=1"},
    {26, "BitCast x[5,4] -> y to=6"},
    {24, "TensorScatter x[2,4,3] u[2,2,3] i(1,3) -> y mode=circular axis=-2"},
    {13, "Expand x[3,1] s(2,1,4) -> y"},
    {13, "Tile x[3,1] s(2,3) -> y"},
    {11, "OneHot i:int64[3] d(4) f<0,1> -> y axis=0"},
    {9, "EyeLike x[3,4] -> y k=1 dtype=7"},
    {11, "Range a(1) e(9) s(2) -> r; Add r x:int64[4] -> y"},
    {9, "ConstantOfShape s(2,3) -> c; Add c x[2,3] -> y"},
    {13, "Size x[2,3] -> s; Cast s -> c to=1; Mul x c -> y"},
    {18, "CenterCropPad x[5,4] s(3,7) -> y"},
    {14, "LSTM x[3,2,5] w{1,12,5} r{1,12,3} b{1,24} l h[1,2,3] c[1,2,3] p{1,9} -> y clip=0.25 "
         "input_forget=1 hidden_size=3 direction=reverse layout=0"},
    {14, "RNN x[3,2,5] w{2,3,5} r{2,3,3} -> _ y direction=bidirectional activations=Elu|Affine| "
         "activation_alpha=0.5,0.25 activation_beta=0.5,"},
    {14, "GRU x[2,3,5] w{1,9,5} r{1,9,3} -> y h linear_before_reset=1 layout=1"},
    {12, "Einsum x[2,3,5] z[5,5] -> y equation=...a,aa->...a"},
    {10, "ReverseSequence x[4,3,5] l(4,2,1) -> y time_axis=0 batch_axis=1"},
    {11, "MaxUnpool x[1,1,2,2] i:int64[1,1,2,2] s(1,1,5,5) -> y kernel_shape=2,2 strides=2,2"},
    {24,
     "Attention q[1,3,8] k[1,4,8] v[1,4,8] m[3,4] _ _ l(4) -> y a b s is_causal=1 q_num_heads=4 "
     "kv_num_heads=2 qk_matmul_output_mode=2 scale=0.5 softcap=2.0 softmax_precision=1"},
    {23, "Attention q[1,2,3,4] k[1,2,4,4] v[1,2,4,4] m:bool[3,4] p[1,2,2,4] u[1,2,2,4] -> y"},
    {23, "RotaryEmbedding x[1,3,8] c{7,2} s{7,2} p(0,1,2) -> y num_heads=2 interleaved=1 "
         "rotary_embedding_dim=4"},
    {22, "LpPool x[1,4,7,7] -> y kernel_shape=3,2 strides=2,2 pads=1,0,1,1 dilations=1,2 p=3 "
         "auto_pad=NOTSET ceil_mode=0"},
    {18, "Col2Im x[1,5,5] i(5,5) k(1,5) -> y dilations=1,1 pads=0,0,0,0 strides=1,1"},
    {20, "AffineGrid t[2,2,3] s(2,3,4,5) -> y align_corners=1"},
    {22, "RandomNormal -> r shape=2,5 seed=3.0 mean=1.0 scale=2.0; Add r x[5] -> y"},
    {22,
     "RandomUniform -> r shape=2,5 low=-1.0 high=2.0 dtype=10; Cast r -> f to=1; Add f x[5] -> y"},
    {22, "RandomNormalLike x[2,5] -> r mean=2.0 scale=0.5; Mul r x -> y"},
    {22, "RandomUniformLike x[2,5] -> r high=3.0; Mul r x -> y"},
    {22, "Bernoulli x[2,5] -> y seed=1.0 dtype=6"},
    {22, "Multinomial x[3,5] -> y sample_size=9 dtype=7"},
    {13, "Constant -> t value_int=1; Cast t -> m to=9; Dropout x[2,5] r<0.25 m -> y k seed=1"},
    {17, "HannWindow s(9) -> w output_datatype=1; Mul w x[3,9] -> y"},
    {17, "HammingWindow s(9) -> w periodic=0; Mul w x[3,9] -> y"},
    {17, "BlackmanWindow s(9) -> w; Mul w x[3,9] -> y"},
    {16, "RoiAlign x[2,5,9,7] r[3,4] i(0,1,0) -> y mode=max output_height=3 output_width=2 "
         "sampling_ratio=2 spatial_scale=0.5 coordinate_transformation_mode=output_half_pixel"},
    {22, "GlobalLpPool x[1,3,4,5] -> y p=3"},
    {15, "BatchNormalization x[2,3,4] s{3} b{3} m{3} v{3} -> y n w training_mode=1"},
    {13, "Slice x[1,8,8,8] b(1,-1) e(6,-9) a(1,3) s(2,-2) -> y"},
    {9, "Slice x[1,8,8,8] -> y starts=0,1 ends=4,-1 axes=1,2"},
    {13, "Transpose x[1,2,3,4] -> y perm=0,3,1,2"},
    {13, "Pad x[1,2,3,3] p(0,0,1,2,0,0,3,1) k<0.5 -> y mode=constant"},
    {18, "Pad x[1,2,3,3] p(1,1) _ a(3) -> y mode=reflect"},
    {2, "Pad x[1,2,3,3] -> y pads=0,0,1,1,0,0,1,1 value=1.5 mode=edge"},
    {13, "Resize x[1,2,3,3] _ s<1,1,2,2.5> -> y mode=nearest nearest_mode=ceil "
         "coordinate_transformation_mode=half_pixel"},
    {13, "Resize x[1,2,3,3] _ _ s(1,2,7,5) -> y mode=linear "
         "coordinate_transformation_mode=align_corners"},
    {13, "Resize x[1,1,4,4] r<0,0,0.2,0.2,1,1,0.8,0.8> _ s(1,1,3,3) -> y mode=linear "
         "coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=10.0"},
    {19, "Resize x[1,1,4,4] _ _ s(3,3) -> y mode=cubic axes=2,3 antialias=1 cubic_coeff_a=-0.5 "
         "exclude_outside=1 keep_aspect_ratio_policy=not_larger"},
    {10, "Resize x[1,2,3,3] s<1,1,2,2> -> y mode=linear"},
    {9, "Upsample x[1,2,3,3] s<1,1,2,2> -> y mode=nearest"},
    {7, "Upsample x[1,2,3,3] -> y scales=1.0,1.0,2.0,3.0 mode=linear"},
    {16, "GridSample x[1,2,3,3] g[1,2,4,2] -> y mode=bicubic padding_mode=reflection "
         "align_corners=1"},
    {20, "GridSample x[1,2,3,3,4] g[1,2,4,2,3] -> y mode=cubic padding_mode=border"},
    {13, "DepthToSpace x[1,8,2,3] -> y blocksize=2 mode=CRD"},
    {13, "SpaceToDepth x[1,2,4,6] -> y blocksize=2"},
    {13, "Gather x[4,3] i(2,-1) -> y axis=0"},
    {14, "Reshape x[1,8,2,2] s(0,-1) -> y allowzero=0"},
    {13, "Flatten x[2,3,4] -> y axis=-1"},
    {13, "Squeeze x[1,3,1] a(0,-1) -> y"},
    {11, "Squeeze x[1,3,1] -> y axes=0,"},
    {13, "Unsqueeze x[3] a(0,2) -> y"},
    {11, "Unsqueeze x[3] -> y axes=0,2"},
    {13, "Identity x[1,3] -> y"},
    {13, "Dropout x[1,3] r<0.5 -> y m seed=1"},
    {7, "Dropout x[1,3] -> y ratio=0.5"},
    {19, "Cast x[1,3] -> y to=7 saturate=1"},
    {13, "Constant -> c value_floats=1.0,2.0; Add x[3,2] c -> y"},
    {13, "Constant -> c value_ints=6,; Reshape x[3,2] c -> y"},
    {13, "Constant -> c value_float=0.5; Constant -> d value_int=3; Mul x[2] c -> y"},
    {15, "Shape x[2,N,4] -> y start=-2 end=3"},
    {13, "Shape x[N,3,H,W] -> s; Gather s i(2) -> h; Mul h k(2) -> d; Concat b(1,3) d e(-1) -> t "
         "axis=0; Reshape x t -> y"},
    {13, "Conv x[1,3,8,8] w{4,3,3,3} b{4} -> c pads=1,1,1,1; BatchNormalization c s{4} b m{4} v{4} "
         "-> n; Relu n -> r; ConvTranspose r u{4,4,3,3} -> d pads=1,1,1,1; Concat d r -> y axis=1"},
    {13, "Add r x -> y; Relu x[1,3] -> r; Mul r y -> z"},
    {13, "fuzz:Twice x[1,3,4,4] -> a gain=2 offset=0.5; fuzz:Twice a b[2] -> y sizes=1,2"},
};

enum { CASE_COUNT = sizeof cases / sizeof *cases };

/* ---- files ---- */

static int file_count;

static void write_seed(const char *folder, const uint8_t *bytes, size_t size) {
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%04d.onnx", folder, file_count++);
    FILE *file = fopen(path, "wb");
    bool written = file && fwrite(bytes, 1, size, file) == size;
    if (!file || (fclose(file) != 0) | !written) {
        fprintf(stderr, "make_corpus: %s: %s\n", path, strerror(errno));
        exit(2);
    }
}

static unsigned next_random(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

/* The model, a cut one and two with a bit turned over. Takes the writer. */
static void write_seeds(const char *folder, onnx_writer *writer) {
    size_t size;
    uint8_t *bytes = onnx_write_memory(writer, &size);
    onnx_writer_destroy(writer);
    if (!bytes) {
        fputs("make_corpus: not enough memory\n", stderr);
        exit(2);
    }
    write_seed(folder, bytes, size);
    write_seed(folder, bytes, next_random() % size);
    for (int i = 0; i < 2; i++) {
        bytes[next_random() % size] ^= (uint8_t)(1u << next_random() % 8);
        write_seed(folder, bytes, size);
    }
    free(bytes);
}

/* ---- tensors ---- */

static onnx_writer *tensor_model(tsr_dtype dtype, Tsr__TensorProto **tensor) {
    onnx_writer *writer = onnx_case(13, "Cast w -> c to=1; Add x[2,2] c -> y");
    *tensor = onnx_add_initializer(writer, "w", dtype, 2, (int64_t[]){2, 2});
    return writer;
}

static void write_tensors(const char *folder) {
    static float floats[] = {1, 2, 3, 4};
    static double doubles[] = {1, 2, 3, 4};
    static int32_t int32s[] = {0, 1, 1, 0};
    static int64_t int64s[] = {-1, 2, 3, 4};
    static uint64_t uint64s[] = {1, 2, 3, 4};
    for (int dtype = TSR_DTYPE_F32; dtype <= TSR_DTYPE_BOOL; dtype++) {
        Tsr__TensorProto *tensor;
        write_seeds(folder, tensor_model((tsr_dtype)dtype, &tensor));
        onnx_writer *writer = tensor_model((tsr_dtype)dtype, &tensor);
        tensor->has_raw_data = false;
        tensor->raw_data.len = 0;
        if (dtype == TSR_DTYPE_F32)
            tensor->n_float_data = 4, tensor->float_data = floats;
        else if (dtype == TSR_DTYPE_F64)
            tensor->n_double_data = 4, tensor->double_data = doubles;
        else if (dtype == TSR_DTYPE_I64)
            tensor->n_int64_data = 4, tensor->int64_data = int64s;
        else if (dtype == TSR_DTYPE_U64 || dtype == TSR_DTYPE_U32)
            tensor->n_uint64_data = 4, tensor->uint64_data = uint64s;
        else
            tensor->n_int32_data = 4, tensor->int32_data = int32s;
        write_seeds(folder, writer);
    }
}

static void write_external(const char *folder) {
    Tsr__StringStringEntryProto entries[3], *list[] = {entries, entries + 1, entries + 2};
    static char *const pairs[3][2] = {{"location", "data.bin"}, {"offset", "16"}, {"length", "16"}};
    for (int i = 0; i < 3; i++) {
        tsr__string_string_entry_proto__init(&entries[i]);
        entries[i].key = pairs[i][0];
        entries[i].value = pairs[i][1];
    }
    Tsr__TensorProto *tensor;
    onnx_writer *writer = tensor_model(TSR_DTYPE_F32, &tensor);
    tensor->has_raw_data = false;
    tensor->raw_data.len = 0;
    tensor->has_data_location = true;
    tensor->data_location = TSR__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    tensor->external_data = list;
    tensor->n_external_data = 3;
    write_seeds(folder, writer);
}

static void write_constant_tensor(const char *folder) {
    onnx_writer *writer = onnx_case(13, "Constant -> c; Cast c -> d to=1; Add x[2,2] d -> y");
    onnx_set_tensor(writer, onnx_writer_model(writer)->graph->node[0], "value",
                    onnx_new_tensor(writer, "value", TSR_DTYPE_F16, 2, (int64_t[]){2, 2}));
    write_seeds(folder, writer);
}

/* ---- coverage ---- */

static bool names_operator(const char *text, const char *op) {
    size_t length = strlen(op);
    for (const char *at = text; (at = strstr(at, op)); at += length)
        if ((at == text || at[-1] == ' ') && at[length] == ' ')
            return true;
    return false;
}

static bool every_operator_is_there(void) {
    bool complete = true;
    for (int op = 0; op < TSR_OP_COUNT; op++) {
        if (op == TSR_OP_Custom || op == TSR_OP_FunctionCall) /* no file names these */
            continue;
        const char *name = tsr_op_get_info((tsr_op)op)->name;
        bool found = false;
        for (int i = 0; i < CASE_COUNT && !found; i++)
            found = names_operator(cases[i].text, name);
        if (!found)
            fprintf(stderr, "make_corpus: no model with %s\n", name);
        complete &= found;
    }
    return complete;
}

/* A model with functions, one of which calls the other. */
static onnx_writer *make_functions(void) {
    onnx_writer *writer = onnx_case(16, "local:Outer x[2,3] -> y alpha=0.5");
    add_function(writer, 16, "Outer", "x", "y", "local:Leak x -> l alpha=call; Add l x -> y", NULL);
    add_function(writer, 16, "Leak", "x,z", "y", "LeakyRelu x -> y alpha=call", NULL);
    return writer;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: make_corpus FOLDER\n", stderr);
        return 2;
    }
    for (int i = 0; i < CASE_COUNT; i++)
        write_seeds(argv[1], onnx_case(cases[i].opset, cases[i].text));
    write_seeds(argv[1], make_functions());
    write_tensors(argv[1]);
    write_external(argv[1]);
    write_constant_tensor(argv[1]);
    return every_operator_is_there() ? 0 : 1;
}
