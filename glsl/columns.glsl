// Included where `total` combines columns column_begin to column_end - 1 of X, line `line` of tile `tile`, by
//     void add(vec4 v)    or a macro of that name, defined by the kernel
// Needs no division per column, since column_begin is a multiple of planes * pixel stride. On GPUs with enough registers
// (REGISTERS 0), eight columns are fetched before they are added, which hides latency; llvmpipe (SAMPLE 1) gains nothing.
#define ADD_CELLS(count) \
    for (; column <= column_end - count; column += count, cell += count / whole) \
        for (int i = 0; i < count; i++) \
            add(X_cell(tile, line, cell + i / whole + i % whole / X_PLANES * (u.X_tile_width / X_STRIDE), i % X_PLANES));
    {
        const int whole = X_PLANES * X_STRIDE;
        int column = column_begin, cell = column / whole;
#if SAMPLE == 0 && REGISTERS == 0 && 8 % (X_PLANES * X_STRIDE) == 0
        ADD_CELLS(8)
#endif
        ADD_CELLS(whole)
        for (; column < column_end; column++)
            add(X_fetch(tile, line, column));
    }
