#include "options.h"

#include "message.h"
#include "values.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: pix2pix [options] [MODEL.onnx ...] [PICTURE]\n"
    "Draw a sketch; the network paints it beside. Paint on its picture what should be other, and\n"
    "it learns that. H shows the keys. The drawing is kept, also when the program is killed, and\n"
    "comes back at the next start. Several models, of one picture size, are chosen among by a\n"
    "slider.\n"
    "\n"
    "  --model FILE              ONNX model with one image input and output (edges2emoji.onnx);\n"
    "                            may be repeated\n"
    "  --range LO:HI             the model's values of black and white (-1:1)\n"
    "  --backend gles|webgpu|cpu backend (gles)\n"
    "  --precision fp32|fp16     tensor storage (fp32)\n"
    "  --gallery FOLDER          folder of sketches, scripts and pictures (demos/sketches)\n"
    "  --pressure on|off         the mouse's slow strokes are broader than its fast ones (on)\n"
    "  --out FOLDER              folder that S and Ctrl+S save to, made if it is missing (.)\n"
    "  --fresh                   begin with a white canvas, not with the drawing of last time\n"
    "  --restore                 with --script: keep the drawing and bring it back, too\n"
    "  --script FILE             run the commands of a script, then exit\n"
    "  --frames N                exit after N frames\n"
    "\n"
    "A script has one command per line:\n"
    "  key NAME ...              press keys, named as in the list of keys (H): key 2 + Ctrl+Z\n"
    "  type TEXT                 type text, where text can be typed\n"
    "  click NAME | X Y          click on a key's button, or on a pixel of the window\n"
    "  hover NAME | X Y          move the pointer there\n"
    "  stroke X Y X Y ...        draw a stroke, one point per frame, in canvas pixels\n"
    "  paint X Y X Y ...         the same on the network's picture: what L or Enter teaches\n"
    "  wait                      wait until the output shows the current canvas, and lessons end\n"
    "  ready                     wait until the session that was asked for runs\n"
    "  frames N                  wait for N frames\n"
    "  longest TEXT              print the longest frame since the last one, after TEXT\n"
    "  load FILE                 load a picture into the canvas\n"
    "  save PREFIX               write PREFIX-input.png, PREFIX-output.png, PREFIX-both.png\n"
    "  screenshot FILE           save the window as a picture\n"
    "  film PREFIX N             save the window as PREFIX-0001.png ... every N points of strokes\n"
    "  window W H                resize the window\n"
    "\n"
    "Exit codes: 0 success, 2 bad usage or input, 3 no window, no OpenGL ES 3, or device error.\n";

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

static bool set_text(const char **to, const char *text) {
    *to = text;
    return true;
}

static bool add_model(const char *path, options *o) {
    if (o->model_count == MOST_MODELS)
        return complain("%s: there are %d models already", path, MOST_MODELS);
    o->models[o->model_count++] = path;
    return true;
}

static bool parse_option(const char *name, const char *text, options *o) {
    if (!text)
        return complain("%s expects a value, or is not an option; --help lists them", name);
    return !strcmp(name, "--model")       ? add_model(text, o)
           : !strcmp(name, "--gallery")   ? set_text(&o->gallery, text)
           : !strcmp(name, "--out")       ? set_text(&o->folder, text)
           : !strcmp(name, "--script")    ? set_text(&o->script, text)
           : !strcmp(name, "--range")     ? parse_range(text, &o->low, &o->high)
           : !strcmp(name, "--precision") ? parse_precision(text, &o->settings.precision)
           : !strcmp(name, "--backend")   ? parse_backend(text, o)
           : !strcmp(name, "--pressure")  ? parse_pressure(text, o)
           : !strcmp(name, "--frames")    ? parse_frames(text, &o->frames)
                                       : complain("there is no option %s; --help lists them", name);
}

static bool add_file(const char *path, options *o) {
    size_t length = strlen(path);
    if (length > 5 && !strcmp(path + length - 5, ".onnx"))
        return add_model(path, o);
    if (o->picture)
        return complain("one picture at a time: %s, %s", o->picture, path);
    o->picture = path;
    return true;
}

bool options_parse(int argc, char **argv, options *o) {
    *o = (options){.gallery = PIX2PIX_FOLDER "/sketches",
                   .folder = ".",
                   .settings = {.backend = "gles"},
                   .low = -1,
                   .high = 1};
    bool fresh = false, restore = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            o->help = true;
            return true;
        }
        if (!strcmp(argv[i], "--fresh"))
            fresh = true;
        else if (!strcmp(argv[i], "--restore"))
            restore = true;
        else if (argv[i][0] == '-' ? !parse_option(argv[i], argv[i + 1], o) : !add_file(argv[i], o))
            return false;
        else
            i += argv[i][0] == '-';
    }
    if (!o->model_count)
        o->models[o->model_count++] = PIX2PIX_FOLDER "/models/edges2emoji.onnx";
    o->keeps = restore || (!o->script && !o->frames);
    o->restores = o->keeps && !fresh;
    return true;
}
