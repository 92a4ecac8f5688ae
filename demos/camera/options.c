#include "options.h"

#include "message.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: camera [options] [MODEL.onnx]\n"
    "A camera, a film or a moving pattern through a network from pictures to pictures, in a "
    "window.\n"
    "Without a model edges2emoji.onnx paints the picture's outlines. H shows the keys.\n"
    "\n"
    "  --device FILE           camera (/dev/video0; the pattern if it cannot be used)\n"
    "  --film FILE             y4m film, again and again; '-': the standard input; any other film "
    "if\n"
    "                          ffmpeg is installed\n"
    "  --pattern               moving test pattern\n"
    "  --size WxH              size of the camera's and the pattern's frames (640x480), and of "
    "the\n"
    "                          network's input, if it takes it (that of the frames)\n"
    "  --range LO:HI           the model's values of black and white, as -1:1 (what MODEL.json "
    "says,\n"
    "                          else 0:1)\n"
    "  --edges                 give the network outlines, black on white\n"
    "  --backend gles|webgpu   backend (gles)\n"
    "  --precision fp32|fp16   tensor storage (fp32)\n"
    "  --out FOLDER            folder that S saves to, made if it is missing (.)\n"
    "  --every-frame           run every frame, and at the network's speed; else the newest one, "
    "others\n"
    "                          are dropped\n"
    "  --frames N              exit after N pictures of the network\n"
    "  --save PREFIX           then write PREFIX-source.png and PREFIX-result.png\n"
    "  --screenshot FILE       then save the window as a picture\n"
    "\n"
    "Exit codes: 0 success, 2 bad usage or input, 3 no window, no OpenGL ES 3, or device error.\n";

static bool set_range(const char *text, options *o) {
    o->has_range = parse_range(text, &o->range.low, &o->range.high);
    return o->has_range;
}

static bool parse_size(const char *text, options *o) {
    char *end, *second = NULL;
    long width = strtol(text, &end, 10), height = 0;
    if (end != text && *end == 'x')
        height = strtol(end + 1, &second, 10);
    o->sized = second && second != end + 1 && !*second && width >= 16 && width <= 4096 &&
               height >= 16 && height <= 4096;
    o->source.width = (int)width;
    o->source.height = (int)height;
    return o->sized ||
           complain("--size expects WxH of 16 to 4096 pixels, as 640x480, not '%s'", text);
}

static bool parse_backend(const char *text, options *o) {
    o->settings.backend = text;
    return !strcmp(text, "gles") || !strcmp(text, "webgpu") ||
           complain("--backend expects gles or webgpu, not '%s'", text);
}

static bool set_source(options *o, const source_kind *kind, const char *path) {
    o->source.kind = kind;
    o->source.path = path;
    return true;
}

static bool set_text(const char **to, const char *text) {
    *to = text;
    return true;
}

/* Options without a value. */
static bool parse_flag(const char *name, options *o) {
    if (!strcmp(name, "--help"))
        o->help = true;
    else if (!strcmp(name, "--edges"))
        o->edges = true;
    else if (!strcmp(name, "--every-frame"))
        o->source.every = true;
    else
        return !strcmp(name, "--pattern") && set_source(o, &pattern_source, NULL);
    return true;
}

static bool parse_option(const char *name, const char *text, options *o) {
    if (!text)
        return complain("%s expects a value, or is not an option; --help lists them", name);
    return !strcmp(name, "--device")       ? set_source(o, &camera_source, text)
           : !strcmp(name, "--film")       ? set_source(o, &film_source, text)
           : !strcmp(name, "--out")        ? set_text(&o->folder, text)
           : !strcmp(name, "--save")       ? set_text(&o->prefix, text)
           : !strcmp(name, "--screenshot") ? set_text(&o->screenshot, text)
           : !strcmp(name, "--size")       ? parse_size(text, o)
           : !strcmp(name, "--range")      ? set_range(text, o)
           : !strcmp(name, "--precision")  ? parse_precision(text, &o->settings.precision)
           : !strcmp(name, "--backend")    ? parse_backend(text, o)
           : !strcmp(name, "--frames")     ? parse_frames(text, &o->frames)
                                       : complain("there is no option %s; --help lists them", name);
}

bool options_parse(int argc, char **argv, options *o) {
    *o = (options){.source = {&camera_source, "/dev/video0", 640, 480, false},
                   .settings = {.backend = "gles"},
                   .folder = "."};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && o->model)
            return complain("one model at a time: %s, %s", o->model, argv[i]);
        if (argv[i][0] != '-') {
            o->model = argv[i];
        } else if (!parse_flag(argv[i], o)) {
            if (!parse_option(argv[i], argv[i + 1], o))
                return false;
            i++;
        }
    }
    if (o->help)
        fputs(usage, stdout);
    if (!o->model) { /* which was trained on outlines */
        o->model = CAMERA_MODEL;
        o->edges = true;
        o->range = o->has_range ? o->range : (range){-1, 1};
        o->has_range = true;
    }
    return true;
}
