// A custom operator. What src/tessera.h promises to its body, which src/gles/shader.c writes behind this, with a
// brace to close the function; GIVEN is how many inputs the node has.
#define KERNEL_ELEMENT

// An element of an input, 0 outside it; and an input that the node does not have.
#define INPUT(IN, at, size)                                                                                           \
    float IN(int n, int c, int y, int x) {                                                                            \
        ivec4 p = ivec4(n, c, y, x);                                                                                  \
        bool inside = all(greaterThanEqual(p, ivec4(0))) && all(lessThan(p, size));                                   \
        p = inside ? p : ivec4(0);                                                                                    \
        float v = at(p.x, p.y, p.z, p.w);                                                                             \
        return inside ? v : 0.0;                                                                                      \
    }
#define ABSENT(IN) float IN(int n, int c, int y, int x) { return 0.0; }

INPUT(IN0, A_at, A_size)
#define IN0_size A_size
#if GIVEN > 1
INPUT(IN1, B_at, B_size)
#define IN1_size B_size
#else
ABSENT(IN1)
#define IN1_size ivec4(0)
#endif
#if GIVEN > 2
INPUT(IN2, C_at, C_size)
#define IN2_size C_size
#else
ABSENT(IN2)
#define IN2_size ivec4(0)
#endif
#if GIVEN > 3
INPUT(IN3, D_at, D_size)
#define IN3_size D_size
#else
ABSENT(IN3)
#define IN3_size ivec4(0)
#endif

float element(int n, int c, int y, int x) {
    int IN0_N = IN0_size.x, IN0_C = IN0_size.y, IN0_H = IN0_size.z, IN0_W = IN0_size.w;
    int IN1_N = IN1_size.x, IN1_C = IN1_size.y, IN1_H = IN1_size.z, IN1_W = IN1_size.w;
    int IN2_N = IN2_size.x, IN2_C = IN2_size.y, IN2_H = IN2_size.z, IN2_W = IN2_size.w;
    int IN3_N = IN3_size.x, IN3_C = IN3_size.y, IN3_H = IN3_size.z, IN3_W = IN3_size.w;
    int OUT_N = O_size.x, OUT_C = O_size.y, OUT_H = O_size.z, OUT_W = O_size.w;
