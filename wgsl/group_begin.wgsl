// As glsl/group_begin.glsl.
    let first = ((4 * t) / u.channels.group_outputs * u.channels.group_inputs) >> 2;
#if SHARED
    let lowest = (4 * t + vec4i(0, 1, 2, 3)) / u.channels.group_outputs * u.channels.group_inputs;
#endif
