// Ends what glsl/conv_weight_grad_segment.glsl begins.
#for j PLANES
            v$j += row$j;
#endfor
        }
    } while (++unit < end);
