// As glsl/group_own.glsl.
#if SHARED
#for c 4
        let own$c = vec4u(4 * (first + i) + $c - lowest) < vec4u(u32(u.channels.group_inputs));
#endfor
#endif
