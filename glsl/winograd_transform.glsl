// Winograd's input transform of a row or column of POSITIONS pixels: position k is the sum (sign 1) or difference (-1) of two of
// them; 0: the first alone.
ivec3 transform(int k) {
#if POSITIONS == 3
    return k == 0 ? ivec3(0, 1, -1) : k == 1 ? ivec3(1, 1, 0) : ivec3(1, 2, -1);
#else
    return k == 0 ? ivec3(0, 2, -1) : k == 1 ? ivec3(1, 2, 1) : k == 2 ? ivec3(2, 1, -1) : ivec3(1, 3, -1);
#endif
}
