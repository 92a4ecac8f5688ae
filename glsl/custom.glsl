// A custom operator: defines the names that src/tessera.h documents for its body. src/gpu/program_text.c appends the body
// and a closing brace.
float element(int n, int c, int y, int x);
#include element

// An element of an input, 0 outside it and for inputs that the node does not have.
#for i INPUTS
float IN$i(int n, int c, int y, int x) {
    ivec4 p = ivec4(n, c, y, x);
    bool inside = all(greaterThanEqual(p, ivec4(0))) && all(lessThan(p, u.$I_size));
    p = inside ? p : ivec4(0);
    float v = $I_at(p.x, p.y, p.z, p.w);
    return inside ? v : 0.0;
}
#endfor
#for i 4
#if i >= INPUTS
float IN$i(int n, int c, int y, int x) { return 0.0; }
#endif
#endfor

float element(int n, int c, int y, int x) {
#for i 4
#if i < INPUTS
    int IN${i}_N = u.$I_N, IN${i}_C = u.$I_C, IN${i}_H = u.$I_H, IN${i}_W = u.$I_W;
#else
    int IN${i}_N = 0, IN${i}_C = 0, IN${i}_H = 0, IN${i}_W = 0;
#endif
#endfor
    int OUT_N = u.O_N, OUT_C = u.O_C, OUT_H = u.O_H, OUT_W = u.O_W;
