/* A network beside a program that draws: the frame loop never waits for it.
 *
 *     frame_loop MODEL gles|webgpu|cpu [submit|step]
 *
 * submit: for GPUs. A few runs are in flight at a time; each frame asks, without blocking, whether
 *         the oldest of them is complete.
 * step:   for software rasterisers, which compute on the CPU that also has to draw: each frame
 *         works on a run for a few milliseconds. The default where the device says is_cpu.
 *
 * Eight runs of the model's first input, filled with 0, 1/8, 2/8, ..., print the mean of the first
 * output each, and how many frames were drawn while a run was in flight. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>
#include <time.h>

enum { RUNS = 8, IN_FLIGHT = 2, STEP_MS = 4 };

typedef struct loop {
    tsr_session *session;
    tsr_tensor_info input, output;
    float *elements; /* room for the input or the output */
    int started, done;
    int frames; /* drawn while a run was in flight */
} loop;

static void check(tsr_status status) {
    if (status == TSR_OK)
        return;
    fprintf(stderr, "frame_loop: %s\n", tsr_last_error());
    exit(1);
}

/* A program's own work: here a millisecond of nothing. */
static void draw_frame(void) {
    struct timespec start, now;
    timespec_get(&start, TIME_UTC);
    do
        timespec_get(&now, TIME_UTC);
    while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < 1000000);
}

static void set_next_input(loop *l) {
    size_t count = (size_t)tsr_shape_count(&l->input.shape);
    for (size_t i = 0; i < count; i++)
        l->elements[i] = (float)l->started / RUNS;
    check(tsr_session_set_input(l->session, l->input.name, l->elements, count));
    l->started++;
}

static void take_output(loop *l) {
    size_t count = (size_t)tsr_shape_count(&l->output.shape);
    double sum = 0;
    check(tsr_session_get_output(l->session, l->output.name, l->elements, count));
    for (size_t i = 0; i < count; i++)
        sum += (double)l->elements[i];
    printf("run %d: mean %.6f\n", l->done++, sum / (double)count);
}

static void frame_with_submit(loop *l) {
    if (l->started < RUNS && l->started - l->done < IN_FLIGHT) {
        set_next_input(l);
        check(tsr_session_submit(l->session)); /* returns before the GPU is done */
    }
    draw_frame();
    l->frames++;
    check(tsr_session_select_run(l->session, l->started - l->done - 1)); /* the oldest */
    tsr_status status = tsr_session_poll(l->session);
    if (status == TSR_NOT_READY)
        return;
    check(status);
    take_output(l); /* does not block any more */
}

static void frame_with_step(loop *l) {
    if (l->started == l->done)
        set_next_input(l);
    draw_frame();
    l->frames++;
    tsr_status status = tsr_session_step(l->session, STEP_MS); /* the first one starts the run */
    if (status == TSR_NOT_READY)
        return;
    check(status);
    take_output(l);
}

int main(int argc, char **argv) {
    tsr_device *device;
    tsr_model *model;
    tsr_device_info info;
    loop l = {0};
    const char *way = argc == 4 ? argv[3] : "";
    if (argc < 3 || argc > 4 || (argc == 4 && strcmp(way, "step") && strcmp(way, "submit"))) {
        fputs("usage: frame_loop MODEL gles|webgpu|cpu [submit|step]\n", stderr);
        return 2;
    }
    check(tsr_device_create(&(tsr_device_desc){.backend = argv[2]}, &device));
    check(tsr_device_get_info(device, &info));
    check(tsr_model_load(argv[1], NULL, &model));
    bool step = *way ? strcmp(way, "step") == 0 : info.is_cpu;
    check(tsr_session_create(device, model,
                             &(tsr_session_desc){.runs_in_flight = step ? 1 : IN_FLIGHT},
                             &l.session)); /* compiles: before the first frame, not in the loop */
    check(tsr_session_input(l.session, 0, &l.input));
    check(tsr_session_output(l.session, 0, &l.output));
    int64_t in = tsr_shape_count(&l.input.shape), out = tsr_shape_count(&l.output.shape);
    l.elements = malloc((size_t)(in > out ? in : out) * sizeof *l.elements + 1);
    if (!l.elements)
        return 1;
    while (l.done < RUNS) {
        if (step)
            frame_with_step(&l);
        else
            frame_with_submit(&l);
    }
    printf("%s: %d frames were drawn during %d runs\n", step ? "step" : "submit", l.frames, RUNS);
    free(l.elements);
    tsr_session_destroy(l.session);
    tsr_model_free(model);
    tsr_device_destroy(device);
    return 0;
}
