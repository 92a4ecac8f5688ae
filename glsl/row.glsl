// A row of input for kernels of form `row`: ROW adjacent columns, read repeatedly from other rows and tiles. row_begin
// computes once what does not depend on row and tile; glsl/row_read.glsl reads.
#if X_LINEAR || X_LOW < X_PLANES
int row_first;
void row_begin(int first) { row_first = first; }
#else
#for i ROW
bool row_inside$i;
#if SAMPLE
vec2 row_at$i; // texture coordinate relative to the tile's, plane
#else
ivec2 row_at$i; // column relative to the tile's, plane
#endif
#endfor
void row_begin(int first) {
#for i ROW
    row_inside$i = first + $i >= 0 && first + $i < u.X_W;
#if SAMPLE
    row_at$i = vec2(X_place(clamp(first + $i, 0, u.X_W - 1))) * vec2(u.X_inverse.x, 1.0);
#else
    row_at$i = X_place(clamp(first + $i, 0, u.X_W - 1));
#endif
#endfor
}
#endif
