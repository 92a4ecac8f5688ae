// Included in glsl/conv_im2col.glsl and glsl/conv_im2col_texture.glsl: which partial sum of which group is image n of the output,
// what it reads of the input and of the table. `first`: an image of the same group and partial sum.
//   SHARED                   1: all sets read the same window of a group
//   PHASES                   1: a set is a phase of a transposed convolution: of phases_y rows, phases_x columns of phases;
//                            pad_y, pad_x: its padding modulo these
//   sets, partials, partial_tiles    see src/algorithm/im2col_gemm.h
// Columns of the table, or groups of four, for each of panel_columns: four.
    int index = tsr_quotient(first, u.sets), set = n - index * u.sets;
    int partial = index - tsr_quotient(index, u.partials) * u.partials;
    int column = (set * u.partials + partial) * ${4 - 3 * TABLE_OF_4} * u.panel_columns + x / PLANES, row = y, at = 0;
    t = y * u.panel_columns + x / PLANES;
#if SHARED
    int window = index;
#else
    int window = n;
#endif
#if PHASES
    int phase_y = tsr_quotient(set, u.phases_x), phase_x = set - phase_y * u.phases_x;
    at = tsr_quotient(phase_y + u.pad_y, u.phases_y) * WINDOW + tsr_quotient(phase_x + u.pad_x, u.phases_x);
#endif
