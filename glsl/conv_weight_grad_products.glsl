// Included where `a` are four input channels, g0 and g1 output channels of a pixel: adds their products. With PAIRS `b` are the
// input channels that the second tap reads.
#if PAIRS
#for j 4
                    row$j += a * g0[$j];
                    row${j + 4} += b * g0[$j];
#endfor
#else
#for j PLANES
#if BLOCK == 0
                    row$j += a * g0;
#elif PLANES < 4
                    row$j += a * g0[(lane & 3) + $j];
#else
                    row$j += a * g${j / 4}[${j % 4}];
#endif
#endfor
#endif
