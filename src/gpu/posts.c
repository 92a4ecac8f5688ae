#include "gpu/posts.h"

static void add_post(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, int i,
                     const char *params) {
    const tsr_pass_post *post = &pass->posts[i];
    const char *stem = tsr_op_get_info(post->op)->stem;
    if (post->source == TSR_NONE) {
        tsr_text_add(text, "    v = tsr_%s(v, %s[%d].xy);\n", stem, params, i);
        return;
    }
    const tsr_layout *operand = tsr_plan_layout(plan, pass->sources[post->source]);
    /* One texel for a whole tile: asked for in the same words for every pixel of a kernel that
     * computes several, so that it is fetched once. */
    const char *pixel = operand->h == 1 && operand->w == 1 ? "0, 0" : "y, x";
    char letter = (char)('A' + post->source);
    if (post->swapped)
        tsr_text_add(text, "    v = tsr_%s(%c_broadcast(n, t, %s), v);\n", stem, letter, pixel);
    else
        tsr_text_add(text, "    v = tsr_%s(v, %c_broadcast(n, t, %s));\n", stem, letter, pixel);
}

void tsr_add_posts(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, const char *params) {
    for (int i = 0; i < pass->post_count; i++)
        add_post(text, plan, pass, i, params);
}
