// A row of input for kernels of form `row`: ROW adjacent columns, read repeatedly from other rows and tiles. row_begin
// computes once what does not depend on row and tile; glsl/row_read.glsl reads.
#if X_LINEAR || X_LOW < X_PLANES
int row_first;
void row_begin(int first) { row_first = first; }
#else
// Columns relative to the tile's, planes.
#if SAMPLE
#define ROW_AT vec2 // texture coordinates
ROW_AT row_scaled(ivec2 place) { return vec2(place) * vec2(u.X_inverse.x, 1.0); }
#else
#define ROW_AT ivec2
ROW_AT row_scaled(ivec2 place) { return place; }
#endif
#for i ROW
bool row_inside$i;
ROW_AT row_at$i;
#if X_FIRST
ROW_AT row_first_at$i; // in the first tiles
#endif
#endfor
void row_begin(int first) {
#for i ROW
    row_inside$i = first + $i >= 0 && first + $i < u.X_W;
    row_at$i = row_scaled(X_place(clamp(first + $i, 0, u.X_W - 1)));
#if X_FIRST
    row_first_at$i = row_scaled(X_place_first(clamp(first + $i, 0, u.X_W - 1)));
#endif
#endfor
}
#endif
