// The input tile where the group of output tile t begins. SHARED 1: texels hold channels of several groups; `lowest` is the
// first input channel of each output channel's group.
    int first = (tsr_quotient(4 * t, u.channels.group_outputs) * u.channels.group_inputs) >> 2;
#if SHARED
    ivec4 lowest;
#for c 4
    lowest[$c] = tsr_quotient(4 * t + $c, u.channels.group_outputs) * u.channels.group_inputs;
#endfor
#endif
