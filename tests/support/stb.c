/* Compiles the stb library that digits.c uses. */
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>
