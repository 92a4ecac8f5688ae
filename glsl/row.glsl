// A row of input for the convolutions: ROW adjacent columns, read again and again from other rows and tiles. What does
// not change between them is computed once, by row_begin. What lies beside the image is read from the texture's last
// row, which is zero: selecting an address costs a quarter of selecting a texel.
#if A_LINEAR
int row_first;
void row_begin(int first) { row_first = first; }
#define ROW_READ(row, tile, line)                                                                                     \
    {                                                                                                                 \
        int k = tile, iy = line;                                                                                      \
        EACH_COLUMN(ROW_TEXEL)                                                                                        \
    }
#define ROW_TEXEL(i) row[i] = A_pixel(k, iy, row_first + i);
#else
bool row_inside[ROW];
vec2 row_at[ROW]; // texture coordinate relative to the tile's, plane
void row_begin(int first) {
#define ROW_BEGIN(i)                                                                                                  \
    row_inside[i] = first + i >= 0 && first + i < A_size.w;                                                           \
    row_at[i] = vec2(A_place(max(first + i, 0))) * vec2(A_inverse.x, 1.0);
    EACH_COLUMN(ROW_BEGIN)
}
#define ROW_READ(row, tile, line)                                                                                     \
    {                                                                                                                 \
        vec2 origin = A_origin(tile) + vec2(0.0, float(line) * A_inverse.y);                                          \
        float zero = 1.0 - 0.5 * A_inverse.y;                                                                         \
        EACH_COLUMN(ROW_TEXEL)                                                                                        \
    }
#define ROW_TEXEL(i)                                                                                                  \
    row[i] = textureLod(A_texture, vec3(origin.x + row_at[i].x, row_inside[i] ? origin.y : zero, row_at[i].y), 0.0);
#endif
