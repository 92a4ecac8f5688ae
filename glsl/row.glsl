// A row of input for the convolutions: ROW adjacent columns, read again and again from other rows and tiles. What does
// not change between them is computed once, by row_begin. What lies beside the image is read from the texture's last
// row, which is zero: selecting an address costs a quarter of selecting a texel. Its columns stay inside the texture,
// as texelFetch has no result beside it.
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
#if SAMPLE
vec2 row_at[ROW]; // texture coordinate relative to the tile's, plane
#define ROW_PLACE(at) vec2(A_place(at)) * vec2(A_inverse.x, 1.0)
#define ROW_ORIGIN(tile, line)                                                                                        \
    float zero = 1.0 - 0.5 * A_inverse.y;                                                                             \
    vec2 origin = (vec2(A_origin(tile) + ivec2(0, line)) + 0.5) * A_inverse;                                          \
    origin.y = line >= 0 && line < A_size.z ? origin.y : zero;
#define ROW_TEXEL(i)                                                                                                  \
    row[i] = textureLod(A_texture, vec3(origin.x + row_at[i].x, row_inside[i] ? origin.y : zero, row_at[i].y), 0.0);
#else
ivec2 row_at[ROW]; // column relative to the tile's, plane
#define ROW_PLACE(at) A_place(at)
#define ROW_ORIGIN(tile, line)                                                                                        \
    int zero = textureSize(A_texture, 0).y - 1;                                                                       \
    ivec2 origin = A_origin(tile) + ivec2(0, line);                                                                   \
    origin.y = line >= 0 && line < A_size.z ? origin.y : zero;
#define ROW_TEXEL(i)                                                                                                  \
    row[i] = texelFetch(A_texture, ivec3(origin.x + row_at[i].x, row_inside[i] ? origin.y : zero, row_at[i].y), 0);
#endif
void row_begin(int first) {
#define ROW_BEGIN(i)                                                                                                  \
    row_inside[i] = first + i >= 0 && first + i < A_size.w;                                                           \
    row_at[i] = ROW_PLACE(clamp(first + i, 0, A_size.w - 1));
    EACH_COLUMN(ROW_BEGIN)
}
#define ROW_READ(row, tile, line)                                                                                     \
    {                                                                                                                 \
        ROW_ORIGIN(tile, (line))                                                                                      \
        EACH_COLUMN(ROW_TEXEL)                                                                                        \
    }
#endif
