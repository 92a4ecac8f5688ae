/* One model in two threads: a model does not change once it is loaded, so that threads share it,
 * and its weights in memory. A device and its sessions belong to one thread at a time: each thread
 * has its own. tsr_last_error() is of the calling thread, too: its text is copied out.
 *
 *     threads MODEL gles|webgpu|cpu
 *
 * Both threads fill the model's inputs alike; their outputs have to be equal. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tessera.h>

typedef struct worker {
    pthread_t thread;
    const tsr_model *model;
    const char *backend;
    float *output; /* of the model's first output; to be freed */
    size_t count;
    tsr_status status;
    char message[512]; /* of a failure */
} worker;

static float *allocate(size_t count) {
    return malloc(count * sizeof(float) + 1);
}

/* Elements of 0 to 1 that depend on their index only. */
static tsr_status set_inputs(tsr_session *session) {
    tsr_status status = TSR_OK;
    for (int i = 0; i < tsr_session_input_count(session) && status == TSR_OK; i++) {
        tsr_tensor_info input;
        status = tsr_session_input(session, i, &input);
        size_t count = (size_t)tsr_shape_count(&input.shape);
        float *elements = allocate(count);
        if (!elements)
            return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for input '%s'", input.name);
        for (size_t k = 0; k < count; k++)
            elements[k] = (float)(k * 37 % 256) / 255;
        if (status == TSR_OK)
            status = tsr_session_set_input(session, input.name, elements, count);
        free(elements);
    }
    return status;
}

static tsr_status get_output(tsr_session *session, worker *w) {
    tsr_tensor_info output;
    tsr_status status = tsr_session_output(session, 0, &output);
    if (status != TSR_OK)
        return status;
    w->count = (size_t)tsr_shape_count(&output.shape);
    w->output = allocate(w->count);
    if (!w->output)
        return tsr_fail(TSR_ERROR_OUT_OF_MEMORY, "no memory for output '%s'", output.name);
    return tsr_session_get_output(session, output.name, w->output, w->count);
}

static void *work(void *user) {
    worker *w = user;
    tsr_device *device = NULL;
    tsr_session *session = NULL;
    w->status = tsr_device_create(&(tsr_device_desc){.backend = w->backend}, &device);
    if (w->status == TSR_OK)
        w->status = tsr_session_create(device, w->model, NULL, &session);
    if (w->status == TSR_OK)
        w->status = set_inputs(session);
    if (w->status == TSR_OK)
        w->status = tsr_session_run(session);
    if (w->status == TSR_OK)
        w->status = get_output(session, w);
    if (w->status != TSR_OK)
        snprintf(w->message, sizeof w->message, "%s", tsr_last_error());
    tsr_session_destroy(session); /* on the thread that they belong to */
    tsr_device_destroy(device);
    return NULL;
}

int main(int argc, char **argv) {
    enum { THREADS = 2 };
    tsr_model *model;
    worker workers[THREADS] = {0};
    int failed = 0, started = 0;
    if (argc != 3) {
        fputs("usage: threads MODEL gles|webgpu|cpu\n", stderr);
        return 2;
    }
    if (tsr_model_load(argv[1], NULL, &model) != TSR_OK) {
        fprintf(stderr, "threads: %s\n", tsr_last_error());
        return 1;
    }
    for (; started < THREADS; started++) {
        worker *w = &workers[started];
        w->model = model;
        w->backend = argv[2];
        if (pthread_create(&w->thread, NULL, work, w))
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    tsr_model_free(model);
    for (int i = 0; i < THREADS; i++)
        if (i >= started || workers[i].status != TSR_OK) {
            const char *why = i < started ? workers[i].message : "it could not be started";
            fprintf(stderr, "threads: thread %d: %s\n", i, why);
            failed = 1;
        }
    if (!failed) {
        failed =
            memcmp(workers[0].output, workers[1].output, workers[0].count * sizeof(float)) != 0;
        printf("%zu elements of each thread are %s\n", workers[0].count,
               failed ? "different" : "equal");
    }
    for (int i = 0; i < THREADS; i++)
        free(workers[i].output);
    return failed;
}
