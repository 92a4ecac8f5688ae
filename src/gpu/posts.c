#include "gpu/posts.h"

#include <stdio.h>

/* The other operand of a binary one, as an expression. */
static void name_operand(const tsr_plan *plan, const tsr_pass *pass, const tsr_pass_post *post,
                         char *text, size_t size) {
    const tsr_layout *operand = tsr_plan_layout(plan, pass->sources[post->source]),
                     *output = tsr_plan_layout(plan, pass->output);
    char letter = (char)('A' + post->source);
    if (post->block) {
        snprintf(text, size, "%c_depth_to_space(n, t, y, x, %d, %d)", letter, post->block,
                 post->dcr);
        return;
    }
    bool broadcast = operand->n != output->n || operand->c != output->c ||
                     operand->h != output->h || operand->w != output->w;
    /* One texel for a whole tile: asked for in the same words for every pixel of a kernel that
     * computes several, so that it is fetched once. */
    const char *pixel = operand->h == 1 && operand->w == 1 ? "0, 0" : "y, x";
    snprintf(text, size, "%c_%s(n, t, %s)", letter, broadcast ? "broadcast" : "own", pixel);
}

static void add_post(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, int i,
                     const char *params) {
    const tsr_pass_post *post = &pass->posts[i];
    const char *stem = tsr_op_get_info(post->op)->stem;
    char operand[64];
    if (post->source == TSR_NONE) {
        tsr_text_add(text, "    v = tsr_%s(v, %s[%d].xy);\n", stem, params, i);
        return;
    }
    name_operand(plan, pass, post, operand, sizeof operand);
    if (post->swapped)
        tsr_text_add(text, "    v = tsr_%s(%s, v);\n", stem, operand);
    else
        tsr_text_add(text, "    v = tsr_%s(v, %s);\n", stem, operand);
}

void tsr_add_posts(tsr_text *text, const tsr_plan *plan, const tsr_pass *pass, const char *params) {
    for (int i = 0; i < pass->post_count; i++)
        add_post(text, plan, pass, i, params);
}
