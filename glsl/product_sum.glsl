// Adds to the sums of pixel j the products of its input a with the weights w0 to w3: those of an input channel each or, with
// DOTS, of an output channel.
#if HALF_PRODUCTS
                    mediump vec4 sum = a[0] * w0;
#for c 3
                    sum += a[${c + 1}] * w${c + 1};
#endfor
                    v$j += sum;
#elif DOTS
#for c 4
                    v$j[$c] += dot(a, w$c);
#endfor
#else
#for c 4
                    v$j += a[$c] * w$c;
#endfor
#endif
