// Weights w0 to w3 of input tile i at tap (ky, kx) from their tensor W, whose images are output channels, whose channels inputs.
                    ivec4 output_tiles = min(4 * t + ivec4(0, 1, 2, 3), u.W_N - 1) * u.W_tiles + i;
#for c 4
                    PRODUCT vec4 of_output$c = W_fetch(output_tiles[$c], ky, kx);
#endfor
#for c 4
                    PRODUCT vec4 w$c = vec4(of_output0[$c], of_output1[$c], of_output2[$c], of_output3[$c]);
#endfor
