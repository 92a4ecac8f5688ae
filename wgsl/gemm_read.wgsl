        // The next steps of both matrices, into registers: the multiplication of those before them hides the latency.
        if (step < end) {
#if ONE_TAP
            for (var i = 0; i < LEFTS; i++) {
                next_left[i] = left(texel_of(tap, at + vec3i(0, 0, i * LANE_STRIDE)));
            }
            let next = advance(at, STEPS);
            if (any(next.xy != at.xy)) {
                tap = texel(pixel, next.xy);
            }
            at = next;
#else
            for (var i = 0; i < LEFTS; i++) {
                next_left[i] = Left();
                if (step + read_step + i * LANE_STRIDE < end) {
                    next_left[i] = left(texel_of(tap, at));
                }
                let next = advance(at, LANE_STRIDE);
                if (any(next.xy != at.xy)) {
                    tap = texel(pixel, next.xy);
                }
                at = next;
            }
#endif
            for (var i = 0; i < RIGHTS; i++) {
                next_right[i] = Packed();
                let r = read_row + i * ROW_STRIDE;
                if (r < STEPS * 4 && (ONE_TAP == 1 || step + r / 4 < end)) {
                    next_right[i] = right(batch, 4 * step + r, read_tile);
                }
            }
        }
