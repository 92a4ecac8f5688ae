#include "gpu/posts.h"

static void add_post(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, int i,
                     const char *params) {
    const tsr_pass_post *post = &pass->posts[i];
    const char *stem = tsr_op_get_info(post->op)->stem;
    if (post->source == TSR_NONE) {
        tsr_text_add(text, "    v = tsr_%s(v, %s[%d].xy);\n", stem, params, i);
        return;
    }
    const tsr_layout *operand = tsr_plan_layout(plan, pass->sources[post->source]),
                     *output = tsr_plan_layout(plan, pass->output);
    bool broadcast = operand->n != output->n || operand->c != output->c ||
                     operand->h != output->h || operand->w != output->w;
    const char *reads = broadcast ? "broadcast" : "own";
    /* One texel for a whole tile: asked for in the same words for every pixel of a kernel that
     * computes several, so that it is fetched once. */
    const char *pixel = operand->h == 1 && operand->w == 1 ? "0, 0" : "y, x";
    char letter = (char)('A' + post->source);
    if (post->swapped)
        tsr_text_add(text, "    v = tsr_%s(%c_%s(n, t, %s), v);\n", stem, letter, reads, pixel);
    else
        tsr_text_add(text, "    v = tsr_%s(v, %c_%s(n, t, %s));\n", stem, letter, reads, pixel);
}

void tsr_add_posts(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, const char *params) {
    for (int i = 0; i < pass->post_count; i++)
        add_post(text, plan, pass, i, params);
}
