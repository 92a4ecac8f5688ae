/* A camera for check_camera.sh, by LD_PRELOAD: /dev/video99 is a file in memory that answers
 * V4L2's requests. FAKE_CAMERA says how: yuyv, nv12, mjpg or
 * bare (mjpg without Huffman tables); busy, radio, raw (a format that is none of these), short
 * (frames that are not whole), unplugged (after three frames). The left half of frames is red, the
 * right half green. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

enum { WIDTH = 160, HEIGHT = 120, STRIDE = 352, BYTES = 21 * 4096, BUFFERS = 3 };

static int camera = -1, frames;
static bool queued[BUFFERS];

static bool is(const char *what) {
    const char *how = getenv("FAKE_CAMERA");
    return strcmp(how ? how : "yuyv", what) == 0;
}

static bool is_jpeg(void) {
    return is("mjpg") || is("bare");
}

static int fail(int code) {
    errno = code;
    return -1;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    if (strcmp(path, "/dev/video99") != 0)
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    camera = memfd_create("camera", MFD_CLOEXEC);
    return ftruncate(camera, (off_t)BYTES * BUFFERS) ? -1 : camera;
}

static __u32 format(void) {
    return is("nv12")  ? V4L2_PIX_FMT_NV12
           : is_jpeg() ? V4L2_PIX_FMT_MJPEG
           : is("raw") ? V4L2_PIX_FMT_SBGGR8
                       : V4L2_PIX_FMT_YUYV;
}

static int set_format(struct v4l2_pix_format *p) {
    if (is("busy"))
        return fail(EBUSY);
    *p = (struct v4l2_pix_format){.width = WIDTH,
                                  .height = HEIGHT,
                                  .pixelformat = format(),
                                  .bytesperline = STRIDE,
                                  .sizeimage = BYTES};
    return 0;
}

/* Red and green of BT.601 in limited range. */
static size_t paint(unsigned char *to) {
    static const unsigned char colors[2][3] = {{81, 90, 240}, {145, 54, 34}};
    unsigned char *pairs = to + STRIDE * HEIGHT;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const unsigned char *c = colors[x >= WIDTH / 2];
            if (is("nv12")) {
                to[y * STRIDE + x] = c[0];
                pairs[y / 2 * STRIDE + x] = c[1 + x % 2];
            } else {
                to[y * STRIDE + 2 * x] = c[0];
                to[y * STRIDE + 2 * x + 1] = c[1 + x % 2];
            }
        }
    return is("short") ? STRIDE * HEIGHT / 2 : STRIDE * HEIGHT * (is("nv12") ? 3 : 2) / 2;
}

typedef struct jpeg {
    unsigned char *to;
    size_t bytes;
} jpeg;

static void append(void *context, void *data, int size) {
    jpeg *j = context;
    memcpy(j->to + j->bytes, data, (size_t)size);
    j->bytes += (size_t)size;
}

/* As of cameras that leave the Huffman tables to the reader. */
static void remove_tables(jpeg *j) {
    for (size_t i = 0; i + 4 < j->bytes; i++)
        if (j->to[i] == 0xFF && j->to[i + 1] == 0xC4) {
            size_t segment = 2 + 256 * (size_t)j->to[i + 2] + j->to[i + 3];
            j->bytes -= segment;
            memmove(j->to + i, j->to + i + segment, j->bytes - i);
            return;
        }
}

static size_t compress(unsigned char *to) {
    static unsigned char rgb[HEIGHT][WIDTH][3];
    jpeg j = {to, 0};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            rgb[y][x][x >= WIDTH / 2] = 255;
    stbi_write_jpg_to_func(append, &j, WIDTH, HEIGHT, 3, rgb, 95);
    if (is("bare"))
        remove_tables(&j);
    return j.bytes;
}

/* Every other time there is no frame yet. */
static int take_buffer(struct v4l2_buffer *b) {
    static unsigned char frame[BYTES];
    b->index = (__u32)(frames / 2 % BUFFERS);
    if (is("unplugged") && frames > 6)
        return fail(ENODEV);
    if (frames++ % 2 || !queued[b->index])
        return fail(EAGAIN);
    b->bytesused = (__u32)(is_jpeg() ? compress(frame) : paint(frame));
    queued[b->index] = false;
    return pwrite(camera, frame, BYTES, (off_t)b->index * BYTES) == BYTES ? 0 : -1;
}

static int answer(unsigned long request, void *argument) {
    struct v4l2_capability *about = argument;
    struct v4l2_buffer *b = argument;
    switch (request) {
    case VIDIOC_QUERYCAP:
        about->capabilities = is("radio") ? V4L2_CAP_RADIO : V4L2_CAP_VIDEO_CAPTURE;
        about->capabilities |= V4L2_CAP_STREAMING;
        strcpy((char *)about->card, "fake");
        return 0;
    case VIDIOC_S_FMT:
        return set_format(&((struct v4l2_format *)argument)->fmt.pix);
    case VIDIOC_REQBUFS:
        ((struct v4l2_requestbuffers *)argument)->count = BUFFERS;
        return 0;
    case VIDIOC_QUERYBUF:
        b->length = BYTES;
        b->m.offset = b->index * BYTES;
        return 0;
    case VIDIOC_QBUF:
        queued[b->index] = true;
        return 0;
    case VIDIOC_DQBUF:
        return take_buffer(b);
    default:
        return 0;
    }
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (descriptor == camera && camera >= 0)
        return answer(request, argument);
    return (int)syscall(SYS_ioctl, descriptor, request, argument);
}
