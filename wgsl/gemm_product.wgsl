#if BYTES
        sum$p_$t[$c] += dot4I8Packed(a$p, w$t_$c);
#else
        sum$p_$t += a$p[$c] * w$t_$c;
#endif
