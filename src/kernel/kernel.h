/* A kernel and its interface. Declarations are in kernels.txt, from which the build generates
 * kernel_list.h and kernel_list.c: for each kernel a `tsr_kernel tsr_kernel_<stem>` and a
 * `struct tsr_args_<stem>`, whose members have the types below and are set by name. A member that a
 * pass does not set fails the plan. */
#ifndef TSR_KERNEL_KERNEL_H
#define TSR_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct tsr_int_arg {
    bool set;
    int64_t value;
} tsr_int_arg;

typedef struct tsr_float_arg {
    bool set;
    double value;
} tsr_float_arg;

typedef struct tsr_tensor_arg {
    bool set;
    int64_t tensor; /* of the plan */
} tsr_tensor_arg;

#define TSR_INT(x) ((tsr_int_arg){true, (x)})
#define TSR_FLOAT(x) ((tsr_float_arg){true, (x)})
#define TSR_TENSOR(x) ((tsr_tensor_arg){true, (x)})

/* Any argument: an args struct is an array of these, one for each field of the kernel. */
typedef union tsr_arg {
    tsr_int_arg i;
    tsr_float_arg f;
    tsr_tensor_arg t;
} tsr_arg;

typedef enum tsr_language { TSR_GLSL = 1, TSR_WGSL = 2 } tsr_language;

typedef enum tsr_field_class {
    TSR_FIELD_INPUT,
    TSR_FIELD_LITERAL, /* a constant of the program */
    TSR_FIELD_SPECIAL, /* a constant of the program, or a uniform */
    TSR_FIELD_INT,     /* a uniform, as TSR_FIELD_FLOAT */
    TSR_FIELD_FLOAT,
} tsr_field_class;

typedef struct tsr_field {
    const char *name;        /* "stride", or "window_y.stride": a group's member */
    unsigned char class;     /* of tsr_field_class */
    unsigned char languages; /* in which the kernel has it */
    bool optional;
    bool vector; /* the first of four integers that can be read as a vector */
} tsr_field;

/* Features of the device. */
enum {
    TSR_NEEDS_UNIFORM_BLOCK = 1,
    TSR_NEEDS_WORKGROUP_MEMORY = 2,
    TSR_NEEDS_PACKED_DOT = 4,
    TSR_NEEDS_SUBGROUP_MATRIX = 8, /* as tsr_wgpu_has_subgroup_matrix() (webgpu/library.h) says */
};

/* What the kernel's file defines: see kernels.txt. */
typedef enum tsr_form {
    TSR_FORM_NONE,
    TSR_FORM_TEXEL,
    TSR_FORM_ROW,
    TSR_FORM_ELEMENT,
    TSR_FORM_ENTRY
} tsr_form;

enum { TSR_MAX_DRAW_ARGS = 4 };

typedef struct tsr_kernel {
    const char *stem;
    tsr_form glsl, wgsl; /* TSR_FORM_NONE: not in this language */
    unsigned needs;
    bool table, table_optional;
    bool words; /* the table is the caller's array or pixels */
    int field_count;
    const tsr_field *fields;
    int draw_arg_count; /* of each draw of a pass */
    const char *draw_args[TSR_MAX_DRAW_ARGS];
} tsr_kernel;

/* All texts; in pages inflated when the module is loaded (src/web/module.mjs). */
extern const char *tsr_kernel_texts;
/* The text of glsl/<stem>.glsl or wgsl/<stem>.wgsl; NULL if there is none. */
const char *tsr_glsl_file(const char *stem);
const char *tsr_wgsl_file(const char *stem);
/* Hashes of all files of a language and of kernels.txt. */
extern const char tsr_glsl_hash[], tsr_wgsl_hash[];
/* Stems of the files of every program, in their order; ended by NULL. */
extern const char *const tsr_glsl_every[], *const tsr_wgsl_every[];

#endif
