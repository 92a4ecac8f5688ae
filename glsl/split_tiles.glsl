// Split-K: the image that the fragment reads, and input tiles from begin to end, counted from `first`, where its group begins.
// What is known when the text is generated is constant: every register that a fragment keeps counts.
#if ONE_IMAGE
    const int begin = 0, image = 0;
    int end = u.channels.tiles;
#else
    int partial = tsr_quotient(n, u.split.images), begin = partial * u.split.tiles, image = n - partial * u.split.images;
    int end = min(begin + u.split.tiles, u.channels.tiles);
#endif
#if GROUPED
#include group_begin
#else
    const int first = 0;
#endif
