// Included where `total` combines columns column_begin to column_end - 1 of X, line `line` of tile `tile`, by
//     void add(vec4 v)    or a macro of that name, defined by the kernel
// Needs no division per column, since column_begin is a multiple of planes * pixel stride.
    {
        int column = column_begin, cell = column_begin / ${X_PLANES * X_STRIDE};
        for (; column <= column_end - ${X_PLANES * X_STRIDE}; column += ${X_PLANES * X_STRIDE}, cell++)
            for (int i = 0; i < ${X_PLANES * X_STRIDE}; i++)
                add(X_cell(tile, line, cell + i / X_PLANES * (u.X_tile_width / X_STRIDE), i % X_PLANES));
        for (; column < column_end; column++)
            add(X_fetch(tile, line, column));
    }
