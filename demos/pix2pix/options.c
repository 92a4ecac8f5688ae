#include "options.h"

#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: pix2pix [options] [PICTURE]\n"
    "Draw on the left; the network paints it on the right. H lists the keys.\n"
    "\n"
    "  --model FILE              an ONNX model from image to image (the one that is shipped)\n"
    "  --range LO:HI             what black and white are for it (-1:1)\n"
    "  --backend gles|webgpu|cpu where it runs (gles)\n"
    "  --precision fp32|fp16     how tensors are stored (fp32)\n"
    "  --gallery FOLDER          example sketches (those that are shipped)\n"
    "  --out FOLDER              where S saves to (.)\n"
    "  --script FILE             draws, presses keys and saves by itself\n"
    "  --frames N                ends after N frames\n"
    "\n"
    "A script has one command a line:\n"
    "  key NAME ...              presses keys as H names them: key 2 + Ctrl+Z\n"
    "  stroke X Y X Y ...        draws with the brush, a point a frame, in pixels of the canvas\n"
    "  wait                      until the picture shows what is on the canvas\n"
    "  frames N                  lets N frames go by\n"
    "  load FILE                 puts a picture on the canvas\n"
    "  save PREFIX               writes PREFIX-input.png, PREFIX-output.png, PREFIX-both.png\n"
    "  screenshot FILE           writes the window\n"
    "  window W H                makes it so large\n"
    "\n"
    "Exit codes: 0 done, 2 bad use or bad input, 3 no window, no OpenGL ES 3, or device trouble.\n";

static bool parse_range(const char *text, options *o) {
    char *end, *second = NULL;
    o->low = strtof(text, &end);
    bool good = end != text && *end == ':';
    if (good)
        o->high = strtof(end + 1, &second);
    good = good && second != end + 1 && !*second && o->low < o->high;
    return good || complain("--range wants LO:HI, as -1:1, not '%s'", text);
}

static bool parse_precision(const char *text, options *o) {
    o->settings.precision = !strcmp(text, "fp16") ? TSR_FP16 : TSR_FP32;
    return !strcmp(text, "fp16") || !strcmp(text, "fp32") ||
           complain("--precision wants fp32 or fp16, not '%s'", text);
}

static bool parse_backend(const char *text, options *o) {
    o->settings.backend = text;
    return !strcmp(text, "gles") || !strcmp(text, "webgpu") || !strcmp(text, "cpu") ||
           complain("--backend wants gles, webgpu or cpu, not '%s'", text);
}

static bool parse_frames(const char *text, options *o) {
    char *end;
    long frames = strtol(text, &end, 10);
    o->frames = frames > 0 && frames <= 1000000000 ? (int)frames : 0;
    return (end != text && !*end && o->frames) ||
           complain("--frames wants a number, not '%s'", text);
}

static bool set_text(const char **to, const char *text) {
    *to = text;
    return true;
}

static bool parse_option(const char *name, const char *text, options *o) {
    if (!text)
        return complain("%s wants a value, or is no option; --help lists them", name);
    return !strcmp(name, "--model")       ? set_text(&o->model, text)
           : !strcmp(name, "--gallery")   ? set_text(&o->gallery, text)
           : !strcmp(name, "--out")       ? set_text(&o->folder, text)
           : !strcmp(name, "--script")    ? set_text(&o->script, text)
           : !strcmp(name, "--range")     ? parse_range(text, o)
           : !strcmp(name, "--precision") ? parse_precision(text, o)
           : !strcmp(name, "--backend")   ? parse_backend(text, o)
           : !strcmp(name, "--frames")    ? parse_frames(text, o)
                                       : complain("there is no option %s; --help lists them", name);
}

bool options_parse(int argc, char **argv, options *o) {
    *o = (options){.model = PIX2PIX_FOLDER "/models/edges2emoji.onnx",
                   .gallery = PIX2PIX_FOLDER "/sketches",
                   .folder = ".",
                   .settings = {.backend = "gles"},
                   .low = -1,
                   .high = 1};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            o->help = true;
            return true;
        }
        if (argv[i][0] == '-') {
            if (!parse_option(argv[i], argv[i + 1], o))
                return false;
            i++;
        } else if (o->picture) {
            return complain("one picture at a time: %s, %s", o->picture, argv[i]);
        } else {
            o->picture = argv[i];
        }
    }
    return true;
}
