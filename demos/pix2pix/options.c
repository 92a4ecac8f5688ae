#include "options.h"

#include "message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: pix2pix [options] [PICTURE]\n"
    "Draw a sketch on the left; the network paints it on the right. Paint on its picture what\n"
    "should be other, and it learns that. H shows the keys.\n"
    "\n"
    "  --model FILE              ONNX model with one image input and output (edges2emoji.onnx)\n"
    "  --range LO:HI             the model's values of black and white (-1:1)\n"
    "  --backend gles|webgpu|cpu backend (gles)\n"
    "  --precision fp32|fp16     tensor storage (fp32)\n"
    "  --gallery FOLDER          folder of sketches, scripts and pictures (demos/sketches)\n"
    "  --pressure on|off         the mouse's slow strokes are broader than its fast ones (on)\n"
    "  --out FOLDER              folder that S and Ctrl+S save to (.)\n"
    "  --script FILE             run the commands of a script, then exit\n"
    "  --frames N                exit after N frames\n"
    "\n"
    "A script has one command per line:\n"
    "  key NAME ...              press keys, named as in the list of keys (H): key 2 + Ctrl+Z\n"
    "  stroke X Y X Y ...        draw a stroke, one point per frame, in canvas pixels\n"
    "  paint X Y X Y ...         the same on the network's picture: what L or Enter teaches\n"
    "  wait                      wait until the output shows the current canvas, and lessons end\n"
    "  frames N                  wait for N frames\n"
    "  load FILE                 load a picture into the canvas\n"
    "  save PREFIX               write PREFIX-input.png, PREFIX-output.png, PREFIX-both.png\n"
    "  screenshot FILE           save the window as a picture\n"
    "  film PREFIX N             save the window as PREFIX-0001.png ... every N points of strokes\n"
    "  window W H                resize the window\n"
    "\n"
    "Exit codes: 0 success, 2 bad usage or input, 3 no window, no OpenGL ES 3, or device error.\n";

static bool parse_range(const char *text, options *o) {
    char *end, *second = NULL;
    o->low = strtof(text, &end);
    bool good = end != text && *end == ':';
    if (good)
        o->high = strtof(end + 1, &second);
    good = good && second != end + 1 && !*second && o->low < o->high;
    return good || complain("--range expects LO:HI, as -1:1, not '%s'", text);
}

static bool parse_precision(const char *text, options *o) {
    o->settings.precision = !strcmp(text, "fp16") ? TSR_PRECISION_FP16 : TSR_PRECISION_FP32;
    return !strcmp(text, "fp16") || !strcmp(text, "fp32") ||
           complain("--precision expects fp32 or fp16, not '%s'", text);
}

static bool parse_backend(const char *text, options *o) {
    o->settings.backend = text;
    return !strcmp(text, "gles") || !strcmp(text, "webgpu") || !strcmp(text, "cpu") ||
           complain("--backend expects gles, webgpu or cpu, not '%s'", text);
}

static bool parse_pressure(const char *text, options *o) {
    o->even = !strcmp(text, "off");
    return o->even || !strcmp(text, "on") ||
           complain("--pressure expects on or off, not '%s'", text);
}

static bool parse_frames(const char *text, options *o) {
    char *end;
    long frames = strtol(text, &end, 10);
    o->frames = frames > 0 && frames <= 1000000000 ? (int)frames : 0;
    return (end != text && !*end && o->frames) ||
           complain("--frames expects a number, not '%s'", text);
}

static bool set_text(const char **to, const char *text) {
    *to = text;
    return true;
}

static bool parse_option(const char *name, const char *text, options *o) {
    if (!text)
        return complain("%s expects a value, or is not an option; --help lists them", name);
    return !strcmp(name, "--model")       ? set_text(&o->model, text)
           : !strcmp(name, "--gallery")   ? set_text(&o->gallery, text)
           : !strcmp(name, "--out")       ? set_text(&o->folder, text)
           : !strcmp(name, "--script")    ? set_text(&o->script, text)
           : !strcmp(name, "--range")     ? parse_range(text, o)
           : !strcmp(name, "--precision") ? parse_precision(text, o)
           : !strcmp(name, "--backend")   ? parse_backend(text, o)
           : !strcmp(name, "--pressure")  ? parse_pressure(text, o)
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
