// Weights w0 to w3 at tap (ky, kx) of the input tile of glsl/conv_weight_tiles.glsl.
#for c 4
                    PRODUCT vec4 of_output$c = weights_texel(weights$c, ky, kx);
#endfor
#for c 4
                    PRODUCT vec4 w$c = vec4(of_output0[$c], of_output1[$c], of_output2[$c], of_output3[$c]);
#endfor
