#include "options.h"
#include "tool.h"

#include <inttypes.h>
#include <stdio.h>

static void print_device(void *user, const tsr_device_desc *desc, const tsr_device_info *info,
                         const char *reason) {
    (void)user;
    const char *backend = desc && desc->backend ? desc->backend : "";
    if (!info) {
        printf("%-7s not available: %s\n", backend, reason);
        return;
    }
    printf("%-7s %s\n", info->backend, info->name);
    if (info->version && info->version[0])
        printf("        %s\n", info->version);
    if (desc && desc->gpu > 0)
        printf("        select with --gpu %d\n", desc->gpu);
    if (info->max_texture_size > 0)
        printf("        textures up to %d x %d, %d layers, %d render targets, uniform blocks of %d "
               "KiB\n",
               info->max_texture_size, info->max_texture_size, info->max_array_layers,
               info->max_draw_buffers, info->max_uniform_block_bytes / 1024);
    if (info->max_texture_size > 0)
        printf("        GPU timers: %s, float blending: %s, context loss detection: %s\n",
               info->has_timer ? "yes" : "no", info->has_float_blend ? "yes" : "no",
               info->has_robust_reset ? "yes" : "no");
    if (info->half_only)
        printf("        renders to no 32-bit floats: tensors are stored in 16 bits\n");
    if (info->bits_only)
        printf("        renders to no floats: tensors are stored as their bits, in integers\n");
    if (info->max_buffer_bytes > 0)
        printf("        buffers up to %" PRIu64
               " MiB, %d per pass; workgroups of %d invocations and "
               "%d KiB; GPU timers: %s\n",
               info->max_buffer_bytes >> 20, info->max_storage_buffers,
               info->max_workgroup_invocations, info->max_workgroup_bytes / 1024,
               info->has_timer ? "yes" : "no");
}

int cmd_devices(int argc, char **argv) {
    option_set set = {.usage = "tessera devices"};
    int arguments, code;
    if (!options_parse(&set, argc, argv, &arguments, &code))
        return code;
    tsr_list_devices(print_device, NULL);
    return EXIT_DONE;
}
