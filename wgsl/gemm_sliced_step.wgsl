// A step of wgsl/gemm_sliced_k.wgsl: number `here`.
            let at = place(here);
#for p PIXELS
            let a$p = left(pixel$p, at);
#endfor
#for t 1
#for c 4
            let w$t_$c = right(batch, 4 * here + $c, tile);
#for p PIXELS
#include gemm_product
#endfor
#endfor
#endfor
