// Puts together what glsl/conv_window.glsl left in parts: pixel (x, y) is pixel (x, y) / strides of its phase, the sum of
// all slices, which lies in its group's plane of that pixel, at the place of its tile of output channels.
uniform ivec4 groups; // rows, columns of groups in an image, rows, columns of a group
uniform ivec4 parts; // phases of rows and columns, slices, columns of a part
vec4 kernel(int n, int t, int y, int x) {
    ivec2 at = ivec2(x, y) / parts.yx, phase = ivec2(x, y) - at * parts.yx;
    ivec2 group = at / groups.wz, pixel = at - group * groups.wz;
    int first = ((n * groups.x + group.y) * groups.y + group.x) * parts.z;
    int row = t / parts.w, column = (t - row * parts.w) * groups.z * groups.w + pixel.y * groups.w + pixel.x;
    vec4 sum = vec4(0.0);
    for (int slice = 0; slice < parts.z; slice++)
        sum += A_fetch(((first + slice) * parts.x + phase.y) * parts.y + phase.x, row, column);
    return sum;
}
