// One of the steps of wgsl/gemm_sliced_k.wgsl: number t, whose weights are loaded, at place `at`.
#for p PIXELS
            let a$p = left(pixel$p, at);
#endfor
#for c 4
#for p PIXELS
#include gemm_product
#endfor
#endfor
