// Included where first + i is an input tile. With SHARED, own0 to own3 say which output channels have an input channel of
// the tile in their group. The others' weights are zero, but zero times infinity or NaN is NaN.
#if SHARED
#for c 4
    bvec4 own$c = lessThan(uvec4(4 * (first + i) + $c - lowest), uvec4(u.channels.group_inputs));
#endfor
#endif
