/* info's table of the optimizer's passes, and the drawing of the graph that they leave. */
#include "info.h"
#include "output.h"
#include "text.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static tsr_status plan(const job *j, tsr_device *device, const char *passes,
                       tsr_session **session) {
    return job_session(j, device,
                       &(tsr_session_desc){.plan_only = true, .optimizer_passes = passes}, session);
}

/* The list of the session's passes without one of them; to be freed. NULL when out of memory. */
static char *list_without(const tsr_session *session, int without) {
    size_t room = sizeof "none";
    for (int i = 0; tsr_optimizer_pass_name(i); i++)
        room += strlen(tsr_optimizer_pass_name(i)) + 1;
    char *list = calloc(room, 1);
    tsr_optimizer_pass_report report;
    for (int i = 0; list && tsr_session_optimizer_pass(session, i, &report) == TSR_OK; i++) {
        if (!report.on || report.required || i == without)
            continue;
        strcat(list, *list ? "," : "");
        strcat(list, report.name);
    }
    return list && !*list ? strcpy(list, "none") : list;
}

/* "31   12.3 MiB": of the plan without this pass. */
static tsr_status print_without(const job *j, tsr_device *device, const tsr_session *full,
                                int pass) {
    tsr_session *session;
    tsr_report report;
    char *list = list_without(full, pass);
    if (!list)
        return fail(TSR_ERROR_OUT_OF_MEMORY, "not enough memory");
    tsr_status status = plan(j, device, list, &session);
    free(list);
    TRY(status);
    status = tsr_session_report(session, &report);
    tsr_session_destroy(session);
    TRY_LIBRARY(status);
    printf("%6d %10s  ", report.pass_count, bytes_label(report.tensor_bytes).text);
    return TSR_OK;
}

static tsr_status print_pass(const job *j, tsr_device *device, const tsr_session *session,
                             int pass) {
    tsr_optimizer_pass_report report;
    TRY_LIBRARY(tsr_session_optimizer_pass(session, pass, &report));
    printf("%-20s ", report.name);
    if (report.nodes_before < 0)
        printf("%6s %6s ", report.on ? "-" : "off", report.on ? "-" : "");
    else
        printf("%6d %6d ", report.nodes_before, report.nodes_after);
    if (report.on && !report.required)
        TRY(print_without(j, device, session, pass));
    else
        printf("%6s %10s  ", report.on ? "needed" : "", "");
    printf("%s\n", tsr_optimizer_pass_text(pass));
    return TSR_OK;
}

static tsr_status print_table(const job *j, tsr_device *device) {
    tsr_session *session;
    TRY(plan(j, device, NULL, &session));
    tsr_report report;
    tsr_status status = tsr_session_report(session, &report);
    if (status == TSR_OK) {
        printf("\noptimizer passes on %s: %d nodes, %d GPU passes, tensors %s; on the right GPU "
               "passes and tensors\nif a pass is left out\n%-20s %6s %6s %6s %10s\n",
               report.backend, report.node_count, report.pass_count,
               bytes_label(report.tensor_bytes).text, "pass", "nodes", "after", "passes",
               "tensors");
        for (int i = 0; status == TSR_OK && tsr_optimizer_pass_name(i); i++)
            status = print_pass(j, device, session, i);
    } else {
        fail_library(status);
    }
    tsr_session_destroy(session);
    return status;
}

tsr_status info_print_passes(const job *j, const char *backend) {
    tsr_device *device;
    TRY(job_device(j->options, backend, &device));
    tsr_status status = print_table(j, device);
    tsr_device_destroy(device);
    return status;
}

static bool write_text(void *file, const char *text, size_t length) {
    return fwrite(text, 1, length, file) == length;
}

static tsr_status draw(const tsr_session *session, const char *path) {
    output_file out;
    TRY(output_begin(path, &out));
    tsr_status status = tsr_session_write_dot(session, write_text, out.file);
    if (status != TSR_OK)
        fail_library(status);
    TRY(output_end(&out, status));
    printf("%s: the graph; 'dot -Tsvg' draws it\n", path);
    return TSR_OK;
}

tsr_status info_write_dot(const job *j, const char *backend, const char *path) {
    tsr_device *device;
    tsr_session *session;
    TRY(job_device(j->options, backend, &device));
    tsr_status status = plan(j, device, NULL, &session);
    if (status == TSR_OK) {
        status = draw(session, path);
        tsr_session_destroy(session);
    }
    tsr_device_destroy(device);
    return status;
}
