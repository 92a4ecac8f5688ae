/* Cameras of Linux: V4L2 with memory that the driver shares. */
#define _DEFAULT_SOURCE

#include "source.h"

#include "jpeg.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stb/stb_image.h>

enum { BUFFERS = 4, MAX_SIDE = 8192 };

typedef struct device {
    const char *path;
    int descriptor;
    struct v4l2_pix_format format;
    int count;
    struct mapping {
        void *data;
        size_t bytes;
    } buffers[BUFFERS];
    struct v4l2_buffer held; /* the latest frame's, to be given back */
    bool holds;
    unsigned char *rgb; /* of the latest JPEG frame, for stbi_image_free */
    bool said;          /* that a frame was left out */
    long long number;
} device;

static int control(const device *d, unsigned long request, void *argument) {
    int result;
    do
        result = ioctl(d->descriptor, request, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

static bool fail(const device *d, const char *what) {
    return complain("%s: %s: %s", d->path, what, strerror(errno));
}

static bool check_device(const device *d) {
    struct v4l2_capability about = {0};
    if (control(d, VIDIOC_QUERYCAP, &about))
        return complain("%s is no camera", d->path);
    __u32 can = about.capabilities & V4L2_CAP_DEVICE_CAPS ? about.device_caps : about.capabilities;
    return ((can & V4L2_CAP_VIDEO_CAPTURE) && (can & V4L2_CAP_STREAMING)) ||
           complain("%s (%.32s) is no camera: it captures no stream of pictures", d->path,
                    (const char *)about.card);
}

/* Whether rows and planes are as large as the driver says. */
static bool is_whole(const struct v4l2_pix_format *p) {
    bool jpeg = p->pixelformat == V4L2_PIX_FMT_MJPEG, packed = p->pixelformat == V4L2_PIX_FMT_YUYV;
    size_t row = (size_t)p->width * (packed ? 2 : 1), rows = p->height;
    bool sides = p->width > 1 && p->height > 1 && p->width <= MAX_SIDE && p->height <= MAX_SIDE;
    return sides &&
           (jpeg || (p->width % 2 == 0 && p->bytesperline >= row &&
                     p->bytesperline % (packed ? 4 : 2) == 0 && p->bytesperline <= 8 * MAX_SIDE &&
                     p->sizeimage >= (packed ? rows : rows + rows / 2) * p->bytesperline));
}

/* The driver chooses the size nearest to the one wanted. */
static bool choose_format(device *d, const source_desc *desc) {
    static const __u32 formats[] = {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_MJPEG};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct v4l2_format f = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
        f.fmt.pix.width = (__u32)desc->width;
        f.fmt.pix.height = (__u32)desc->height;
        f.fmt.pix.pixelformat = formats[i];
        f.fmt.pix.field = V4L2_FIELD_ANY;
        if (control(d, VIDIOC_S_FMT, &f)) {
            if (errno == EBUSY)
                return complain("%s is used by another program", d->path);
            continue;
        }
        d->format = f.fmt.pix;
        if (d->format.pixelformat == formats[i] && is_whole(&d->format))
            return true;
    }
    return complain("%s: the camera has none of the formats YUYV, NV12 and MJPG", d->path);
}

static bool map_buffer(device *d, int i) {
    struct v4l2_buffer b = {
        .index = (__u32)i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (control(d, VIDIOC_QUERYBUF, &b))
        return fail(d, "no buffer");
    void *data =
        mmap(NULL, b.length, PROT_READ | PROT_WRITE, MAP_SHARED, d->descriptor, (off_t)b.m.offset);
    if (data == MAP_FAILED)
        return fail(d, "a buffer cannot be mapped");
    d->buffers[i] = (struct mapping){data, b.length};
    d->count = i + 1;
    return control(d, VIDIOC_QBUF, &b) ? fail(d, "no buffer") : true;
}

static bool begin_stream(device *d) {
    struct v4l2_requestbuffers wanted = {
        .count = BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (control(d, VIDIOC_REQBUFS, &wanted))
        return errno == EBUSY ? complain("%s is used by another program", d->path)
                              : fail(d, "no buffers");
    int count = wanted.count < BUFFERS ? (int)wanted.count : BUFFERS;
    for (int i = 0; i < count; i++)
        if (!map_buffer(d, i))
            return false;
    if (count < 2)
        return complain("%s: the driver has too few buffers", d->path);
    if (!control(d, VIDIOC_STREAMON, &type))
        return true;
    return errno == EBUSY ? complain("%s is used by another program", d->path)
                          : fail(d, "the camera does not start");
}

static void close_device(void *state) {
    device *d = state;
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (d->descriptor >= 0)
        control(d, VIDIOC_STREAMOFF, &type);
    for (int i = 0; i < d->count; i++)
        munmap(d->buffers[i].data, d->buffers[i].bytes);
    if (d->descriptor >= 0)
        close(d->descriptor);
    stbi_image_free(d->rgb);
    free(d);
}

static void *open_device(const source_desc *desc, frame *first, double *period) {
    device *d = calloc(1, sizeof *d);
    if (!d) {
        complain("no memory for a camera");
        return NULL;
    }
    d->path = desc->path;
    d->descriptor = open(desc->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    bool good = d->descriptor >= 0 ? check_device(d) && choose_format(d, desc) && begin_stream(d)
                : errno == ENOENT  ? complain("there is no camera %s", d->path)
                : errno == EBUSY   ? complain("%s is used by another program", d->path)
                                   : complain("%s: %s", d->path, strerror(errno));
    if (!good) {
        close_device(d);
        return NULL;
    }
    first->width = (int)d->format.width;
    first->height = (int)d->format.height;
    *period = 0;
    return d;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool is_full_range(const struct v4l2_pix_format *p) {
    return p->quantization == V4L2_QUANTIZATION_FULL_RANGE ||
           (p->quantization == V4L2_QUANTIZATION_DEFAULT && p->colorspace == V4L2_COLORSPACE_JPEG);
}

/* YUYV: the same bytes as texels of two bytes, whose first is Y, and of four, which have Cb and Cr
 * of two pixels. */
static void lay_out_packed(const device *d, const unsigned char *data, frame *f) {
    int width = f->width, height = f->height, stride = (int)d->format.bytesperline;
    const plane chroma = {data, width / 2, height, 4, stride / 4};
    f->planes[0] = (plane){data, width, height, 2, stride / 2};
    f->planes[1] = f->planes[2] = chroma;
    f->component[0] = 1;
    f->component[1] = 3;
    f->chroma = (chroma_grid){{0.5f, 1}, {0.25f, 0}};
}

/* NV12: Y, then pairs of Cb and Cr. */
static void lay_out_pairs(const device *d, const unsigned char *data, frame *f) {
    int width = f->width, height = f->height, stride = (int)d->format.bytesperline;
    const plane chroma = {data + (size_t)stride * (size_t)height, width / 2, height / 2, 2,
                          stride / 2};
    f->planes[0] = (plane){data, width, height, 1, stride};
    f->planes[1] = f->planes[2] = chroma;
    f->component[0] = 0;
    f->component[1] = 1;
    f->chroma = (chroma_grid){{0.5f, 0.5f}, {0.25f, 0}};
}

static bool decode_jpeg(device *d, const unsigned char *data, size_t bytes, frame *f) {
    int width, height;
    unsigned char *rgb = jpeg_decode(data, bytes, &width, &height);
    if (!rgb || width != f->width || height != f->height) {
        stbi_image_free(rgb);
        return false;
    }
    stbi_image_free(d->rgb);
    d->rgb = rgb;
    f->kind = FRAME_RGB;
    f->planes[0] = (plane){rgb, width, height, 3, width};
    return true;
}

/* False for a frame that is broken or not whole: the next one will do. */
static bool look_at(device *d, const struct v4l2_buffer *b, frame *f) {
    const struct v4l2_pix_format *p = &d->format;
    if (b->index >= (unsigned)d->count || (b->flags & V4L2_BUF_FLAG_ERROR))
        return false;
    const struct mapping *m = &d->buffers[b->index];
    size_t bytes = b->bytesused < m->bytes ? b->bytesused : m->bytes;
    size_t rows = p->height + (p->pixelformat == V4L2_PIX_FMT_NV12 ? p->height / 2 : 0);
    *f = (frame){.kind = FRAME_YUV,
                 .width = (int)p->width,
                 .height = (int)p->height,
                 .number = d->number++,
                 .full_range = is_full_range(p)};
    if (p->pixelformat == V4L2_PIX_FMT_MJPEG)
        return decode_jpeg(d, m->data, bytes, f);
    if (bytes < rows * p->bytesperline)
        return false;
    p->pixelformat == V4L2_PIX_FMT_YUYV ? lay_out_packed(d, m->data, f)
                                        : lay_out_pairs(d, m->data, f);
    return true;
}

static source_news fail_in_stream(const device *d) {
    errno == ENODEV ? complain("%s: the camera was unplugged", d->path)
                    : fail(d, "the camera stopped");
    return SOURCE_FAILED;
}

static source_news next_frame(void *state, frame *f) {
    device *d = state;
    frame made;
    struct v4l2_buffer b = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    struct pollfd in = {.fd = d->descriptor, .events = POLLIN};
    if (poll(&in, 1, 0) == 0)
        return SOURCE_NOTHING;
    if (control(d, VIDIOC_DQBUF, &b))
        return errno == EAGAIN ? SOURCE_NOTHING : fail_in_stream(d);
    bool good = look_at(d, &b, &made);
    struct v4l2_buffer *back = good ? &d->held : &b;
    if ((d->holds || !good) && control(d, VIDIOC_QBUF, back))
        return fail_in_stream(d);
    if (!good) {
        if (!d->said)
            complain("%s: a frame is broken or not whole and is left out", d->path);
        d->said = true;
        return SOURCE_NOTHING;
    }
    d->held = b;
    d->holds = true;
    *f = made;
    return SOURCE_FRAME;
}

const source_kind camera_source = {"camera", open_device, next_frame, close_device};
