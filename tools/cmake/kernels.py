#!/usr/bin/env python3
"""kernels.py DECLARATIONS OPERATORS GLSL_DIR WGSL_DIR OUT_DIR [packed] [only=FILE] [LANGUAGE...]

Writes OUT_DIR/kernel_list.h and kernel_list.c: the declared interface of every kernel (src/kernel/kernels.txt explains
the format) and the texts of the shaders of the given languages, glsl and wgsl; packed: the texts, without comments and
most spaces, are in OUT_DIR/kernels.zlib instead, and tsr_kernel_texts is for the program to set; only: the texts
of the kernels whose stems are the lines of FILE, no others.
Fails, with file and line, where a shader and its declaration do not fit, and where an element by element operator of
OPERATORS (src/graph/ops.def) has no function in a language."""
import hashlib
import os
import re
import sys
import zlib

FORMS = {"texel": "TSR_FORM_TEXEL", "row": "TSR_FORM_ROW", "element": "TSR_FORM_ELEMENT", "entry": "TSR_FORM_ENTRY"}
DEFINES = {"texel": r"\b(?:vec4|fn) kernel\(|^ *#include element\b", "row": r"\bvoid kernel_row\(",
           "element": r"\bfloat element\(", "entry": r"\bfn main\("}
NEEDS = {"uniform_block": "TSR_NEEDS_UNIFORM_BLOCK", "workgroup_memory": "TSR_NEEDS_WORKGROUP_MEMORY"}
CLASSES = {"input": "TSR_FIELD_INPUT", "block": "TSR_FIELD_INPUT", "literal": "TSR_FIELD_LITERAL",
           "special": "TSR_FIELD_SPECIAL", "int": "TSR_FIELD_INT", "float": "TSR_FIELD_FLOAT"}
TYPES = {"TSR_FIELD_INPUT": "tsr_tensor_arg", "TSR_FIELD_FLOAT": "tsr_float_arg"}
MAX_DRAW_ARGS = 4

# What programs have by themselves, for a tensor T (the output O and each input) and for a table.
TENSOR_PARAMS = {
    "glsl": ["size", "N", "C", "H", "W", "tiles", "tile_width", "columns_log2", "begin", "zero_row", "inverse",
             "first_tiles"],
    "wgsl": ["size", "N", "C", "H", "W", "tiles", "texels"]}
TABLE_PARAMS = {"glsl": ["table_inverse"], "wgsl": ["table_width"]}
TENSOR_FUNCTIONS = ["place", "origin", "cell", "texel", "fetch", "own", "pixel", "at", "broadcast", "depth_to_space", "load",
                    "read", "read_inside", "place_in", "place_first"]
TENSOR_NAMES = ["LINEAR", "PLANES", "STRIDE", "SAME", "LOW", "TEXEL", "SCALED", "SHIFTED", "OWN", "BEFORE", "FIRST"]
NAMES = {"glsl": ["PLANES", "PIXEL_STRIDE", "O_TEXEL", "O_LINEAR", "O_PADDED", "O_PADDING", "ONE_IMAGE", "SAMPLE", "REGISTERS", "HALF_ONLY", "TABLE_OF_4", "INPUTS", "SOURCES",
                  "TABLE", "ROW_FORM", "ELEMENT_FORM", "DRAW"],
         "wgsl": ["INPUTS", "SOURCES", "O_TEXEL", "O_BYTES", "O_PADDING", "TABLE", "WORDS", "OWN_ENTRY"]}

errors = []


def fail(file, line, message):
    errors.append(f"{file}:{line}: error: {message}")


class Field:
    def __init__(self, word, kind, line, languages):
        name, _, language = word.partition("@")
        self.optional = name.endswith("?")
        self.name, self.kind, self.line = name.rstrip("?"), kind, line
        self.languages = [language] if language else languages


class Kernel:
    def __init__(self, stem, line):
        self.stem, self.line = stem, line
        self.forms, self.fields, self.draws, self.needs = {}, [], [], []
        self.table = self.table_optional = self.table_block = self.words = False

    def names(self, *kinds):
        return [f.name for f in self.fields if f.kind in kinds]


class Declarations:
    def __init__(self, path):
        self.path, self.groups, self.kernels, self.every, self.programs = path, {}, {}, {}, []
        self.kernel = None
        with open(path) as file:
            for number, line in enumerate(file, 1):
                words = line.split("#")[0].split()
                if words:
                    self.read(words, line[0].isspace(), number)

    def read(self, words, indented, number):
        head, rest = words[0], words[1:]
        if not rest and not (indented and head in ("table", "table?", "table_block", "words")):
            fail(self.path, number, f"'{head}' needs something after it")
        elif indented and self.kernel:
            self.read_property(head, rest, number)
        elif head == "group":
            self.groups[rest[0]] = rest[1:]
        elif head == "every":
            self.every[rest[0]] = rest[1:]
        elif head == "program":
            self.programs += rest
        elif head == "kernel":
            if rest[0] in self.kernels:
                fail(self.path, number, f"kernel {rest[0]} is declared twice")
            self.kernel = self.kernels[rest[0]] = Kernel(rest[0], number)
        else:
            fail(self.path, number, f"'{head}' is no declaration")

    def read_property(self, head, rest, number):
        kernel = self.kernel
        if head in ("glsl", "wgsl"):
            if rest[0] not in FORMS:
                fail(self.path, number, f"'{rest[0]}' is no form: {', '.join(FORMS)}")
            kernel.forms[head] = rest[0]
        elif head in ("table", "table?"):
            kernel.table, kernel.table_optional = True, head == "table?"
        elif head == "words":
            kernel.table = kernel.words = True
        elif head == "table_block":
            kernel.table_block = True
        elif head == "draw":
            kernel.draws += rest
            if len(kernel.draws) > MAX_DRAW_ARGS:
                fail(self.path, number, f"a draw has at most {MAX_DRAW_ARGS} arguments")
        elif head == "needs":
            for need in rest:
                if need not in NEEDS:
                    fail(self.path, number, f"'{need}' is no feature: {', '.join(NEEDS)}")
            kernel.needs += [n for n in rest if n in NEEDS]
        elif head in CLASSES or head in self.groups:
            for word in rest:
                field = Field(word, head, number, list(kernel.forms))
                if field.name in [f.name for f in kernel.fields] + kernel.draws:
                    fail(self.path, number, f"'{field.name}' is declared twice")
                kernel.fields.append(field)
        else:
            fail(self.path, number, f"'{head}' is no property of a kernel, nor a group")


class Shaders:
    """The files of one language."""

    def __init__(self, folder, language):
        self.language, self.folder, self.lines = language, folder, {}
        for name in sorted(os.listdir(folder)):
            stem, extension = os.path.splitext(name)
            if extension == "." + language:
                with open(os.path.join(folder, name)) as file:
                    self.lines[stem] = [line.split("//")[0].rstrip() for line in file]

    def path(self, stem):
        return os.path.join(self.folder, f"{stem}.{self.language}")

    def expand(self, stem):
        """(file, line number, text) of a file and of what it includes."""
        for number, text in enumerate(self.lines[stem], 1):
            include = re.match(r" *#include (\w+)$", text)
            if not include:
                yield self.path(stem), number, text
            elif include[1] not in self.lines:
                fail(self.path(stem), number, f"there is no {self.path(include[1])}")
            else:
                yield self.path(stem), number, text
                yield from self.expand(include[1])

    def text(self, stem):
        """What is embedded: no comments but the file's name, by which programs tell what they are made of."""
        lines = [line for line in self.lines[stem] if line.strip()]
        lines.insert(lines[0].startswith("#version"), f"// {self.language}/{stem}.{self.language}")
        return "".join(line + "\n" for line in lines)


def known_params(declarations, kernel, language):
    known = {f"{t}_{p}" for t in ["O"] + kernel.names("input", "block") for p in TENSOR_PARAMS[language]}
    if kernel.table:
        known |= set(TABLE_PARAMS[language])
    for field in kernel.fields:
        if language not in field.languages:
            continue
        if field.kind in declarations.groups:
            known |= {f"{field.name}.{m}" for m in declarations.groups[field.kind]}
            if len(declarations.groups[field.kind]) == 4:
                known.add(field.name)
        elif field.kind in ("special", "int", "float"):
            known.add(field.name)
    return known | (set(kernel.draws) if language == "glsl" else set())


def known_names(kernel, language):
    known = set(NAMES[language]) | {f.name for f in kernel.fields if f.kind == "literal" and language in f.languages}
    return known | {f"{t}_{n}" for t in kernel.names("input") for n in TENSOR_NAMES}


def check_params(where, text, known, groups):
    for match in re.finditer(r"(?<![\w.])u\.([\w$]+)(?:\.(\w+))?", text):
        name, member = match[1], match[2]
        of_group = member and name in groups and not re.fullmatch("[xyzw]+", member)
        param = f"{name}.{member}" if of_group else name
        if "$" not in name and param not in known:
            fail(*where, f"u.{param} is not declared")


def check_names(where, text, known, variables):
    directive = re.match(r" *#(?:if|elif|for \w+) (.*)", text)
    expressions = re.findall(r"\$\{([^}]*)\}", text) + ([directive[1]] if directive else [])
    for name in re.findall(r"[$A-Za-z_]\w*", " ".join(expressions)):
        plain = name.lstrip("$")
        if not (plain in variables or plain in known or re.match(r"\$[A-Z]_", name)):
            fail(*where, f"{name} is neither declared nor a loop's variable")
    unknown = re.match(r" *#(?!if |elif |else$|endif$|for \w+ |endfor$|include |define |extension )(\S*)", text)
    if unknown:
        fail(*where, f"#{unknown[1]} is no directive")


def check_inputs(where, text, inputs, functions):
    for match in re.finditer(rf"(?<![\w$])([A-Za-z]\w*)_(?:{'|'.join(TENSOR_FUNCTIONS)})\(", text):
        if match[1] not in inputs + ["table", "O"] and match[0][:-1] not in functions:
            fail(*where, f"{match[1]} is no input of this kernel")


def check_kernel(declarations, kernel, shaders):
    language, path = shaders.language, declarations.path
    lines = list(shaders.expand(kernel.stem))
    whole = "\n".join(text for _, _, text in lines)
    params, names = known_params(declarations, kernel, language), known_names(kernel, language)
    variables = set(re.findall(r"#for (\w+) ", whole))
    functions = set(re.findall(r"^\w+ (\w+)\(", whole, re.M))
    groups = {f.name for f in kernel.fields if f.kind in declarations.groups}
    for file, number, text in lines:
        check_params((file, number), text, params, groups)
        check_names((file, number), text, names, variables)
        check_inputs((file, number), text, kernel.names("input"), functions)
    if not re.search(DEFINES[kernel.forms[language]], whole, re.M):
        fail(shaders.path(kernel.stem), 1, f"it is declared as {kernel.forms[language]}, but defines no such function")
    for field in kernel.fields:
        if language not in field.languages or field.kind == "block":
            continue
        used = {"literal": rf"\b{field.name}\b", "input": rf"\b{field.name}_\w+|#for \w+ INPUTS|\bINPUTS > "}
        if not re.search(used.get(field.kind, rf"\bu\.{field.name}\b"), whole):
            fail(path, field.line, f"{shaders.path(kernel.stem)} does not use {field.name}")
    for draw in kernel.draws:
        if not re.search(rf"\bu\.{draw}\b", whole):
            fail(path, kernel.line, f"{shaders.path(kernel.stem)} does not use {draw}")
    if kernel.table != bool(re.search(r"\b(table(_at|_texel|_packed)?|weights_begin)[\[(,]", whole)):
        fail(path, kernel.line, f"{shaders.path(kernel.stem)} {'reads no' if kernel.table else 'reads a'} table")


def check_files(declarations, shaders):
    """Every kernel has a file, and every file belongs to something."""
    language = shaders.language
    used = set(declarations.programs) | set(declarations.every[language])
    for stem in shaders.lines:
        used |= set(re.findall(r"^ *#include (\w+)$", "\n".join(shaders.lines[stem]), re.M))
    for kernel in declarations.kernels.values():
        if language not in kernel.forms:
            continue
        if kernel.stem not in shaders.lines:
            fail(declarations.path, kernel.line, f"there is no {shaders.path(kernel.stem)}")
        else:
            check_kernel(declarations, kernel, shaders)
    for stem in shaders.lines:
        declared = stem in declarations.kernels and language in declarations.kernels[stem].forms
        if not declared and stem not in used:
            fail(shaders.path(stem), 1, f"no kernel of {declarations.path} has this stem, and nothing includes it")


def check_operators(path, shaders):
    """Every element by element operator has its function."""
    defined = {stem: set(re.findall(r"^(?:vec4|fn) (tsr_\w+)\(", "\n".join(shaders.lines[stem]), re.M))
               for stem in ("unary", "binary")}
    with open(path) as file:
        for number, line in enumerate(file, 1):
            operator = re.match(r"TSR_(UNARY|BINARY|NARY)\(\w+, (\w+),", line)
            if not operator:
                continue
            stem = "unary" if operator[1] == "UNARY" else "binary"
            if f"tsr_{operator[2]}" not in defined[stem]:
                fail(path, number, f"{shaders.path(stem)} has no tsr_{operator[2]}()")


def expand_fields(declarations, kernel):
    """(name in C, declared name, class, field, first of a vector)."""
    for field in kernel.fields:
        members = declarations.groups.get(field.kind)
        if not members:
            yield field.name, CLASSES[field.kind], field, False
            continue
        for i, member in enumerate(members):
            yield f"{field.name}.{member}", "TSR_FIELD_INT", field, i == 0 and len(members) == 4


def write_header(declarations, out):
    out.append("/* Written by tools/cmake/kernels.py from src/kernel/kernels.txt. */\n#ifndef TSR_KERNEL_LIST_H\n"
               "#define TSR_KERNEL_LIST_H\n\n#include \"kernel/kernel.h\"\n")
    for name, members in declarations.groups.items():
        out.append(f"typedef struct tsr_args_{name} {{\n    tsr_int_arg {', '.join(members)};\n}} tsr_args_{name};\n")
    for kernel in declarations.kernels.values():
        out.append(f"struct tsr_args_{kernel.stem} {{")
        for field in kernel.fields:
            kind = f"tsr_args_{field.kind}" if field.kind in declarations.groups else \
                TYPES.get(CLASSES[field.kind], "tsr_int_arg")
            out.append(f"    {kind} {field.name};")
        out.append("};")
        if kernel.draws:
            out.append(f"struct tsr_draw_args_{kernel.stem} {{\n    tsr_int_arg {', '.join(kernel.draws)};\n}};")
        out.append(f"extern const tsr_kernel tsr_kernel_{kernel.stem};\n")
    out.append("#endif")


def write_kernel(declarations, kernel, out):
    fields = list(expand_fields(declarations, kernel))
    flags = {"glsl": "TSR_GLSL", "wgsl": "TSR_WGSL"}
    if fields:
        out.append(f"static const tsr_field fields_of_{kernel.stem}[] = {{")
        for name, kind, field, vector in fields:
            languages = " | ".join(flags[language] for language in field.languages) or "0"
            out.append(f"    {{\"{name}\", {kind}, {languages}, {str(field.optional).lower()}, {str(vector).lower()}}},")
        out.append("};")
    forms = [FORMS.get(kernel.forms.get(language), "TSR_FORM_NONE") for language in ("glsl", "wgsl")]
    draws = "".join(f'"{d}", ' for d in kernel.draws) or "0"
    out.append(f"const tsr_kernel tsr_kernel_{kernel.stem} = {{\"{kernel.stem}\", {forms[0]}, {forms[1]}, "
               f"{' | '.join(NEEDS[n] for n in kernel.needs) or '0'}, {str(kernel.table or kernel.table_block).lower()}, {str(kernel.table_optional).lower()}, {str(kernel.words).lower()}, {len(fields)}, "
               f"{'fields_of_' + kernel.stem if fields else '0'}, {len(kernel.draws)}, {{{draws}}}}};\n")


def quote(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').replace("\0", "\\000").splitlines()
    return "\n".join(f'    "{line}\\n"' for line in lines) or '""'


SPACES = re.compile(r" (?=[({}?:])|(?<=[,;(){}?:]) |(?<=[\w)\]]) ([-+*/=]|[-+*/=!]=|&&|\|\|) (?=[\w(])")


def compact(text):
    """Without comments, and without the spaces that no reader of the language needs."""
    lines = [line.split("//")[0].strip() for line in text.splitlines()]
    lines = [line if line.startswith("#") else SPACES.sub(r"\1", line) for line in lines]
    return "".join(line + "\n" for line in lines if line)


def needed(declarations, of, kernels):
    """The files of programs with these kernels."""
    left, found = kernels + declarations.every[of.language], set()
    while left:
        stem = left.pop()
        if stem in of.lines and stem not in found:
            found.add(stem)
            left += re.findall(r"^ *#include (\w+)$", "\n".join(of.lines[stem]), re.M)
    return found


def place(texts):
    """All texts in one, each ended by a zero, and where they start; those of a stem, which are alike, are side by side."""
    files = {(stem, language): text for language in texts for stem, text in texts[language].items()}
    starts, whole = {}, ""
    for file in sorted(files):
        starts[file] = len(whole)
        whole += files[file] + "\0"
    return whole, starts


def write_texts(whole, out):
    out.append(f"const char *tsr_kernel_texts =\n{quote(whole)};\n" if whole else "const char *tsr_kernel_texts;\n")
    out.append("typedef struct kernel_file {\n    const char *stem;\n    int start;\n} kernel_file;\n")
    out.append("static const char *find(const kernel_file *file, const char *stem) {\n"
               "    while (file->stem && strcmp(file->stem, stem))\n        file++;\n"
               "    return file->stem ? tsr_kernel_texts + file->start : 0;\n}\n")


def write_files(declarations, language, texts, starts, out):
    with open(declarations.path) as file:
        digest = hashlib.sha256((file.read() + repr(texts)).encode()).hexdigest()
    out.append(f"const char tsr_{language}_hash[] = \"{digest}\";")
    stems = "".join(f'"{stem}", ' for stem in declarations.every[language])
    out.append(f"const char *const tsr_{language}_every[] = {{{stems}0}};")
    out.append(f"static const kernel_file {language}_files[] = {{")
    out += [f'    {{"{stem}", {starts[stem, language]}}},' for stem in texts]
    out.append(f"    {{0}},\n}};\nconst char *tsr_{language}_file(const char *stem) {{\n"
               f"    return find({language}_files, stem);\n}}\n")


def main():
    path, operators, glsl, wgsl, out_dir, *options = sys.argv[1:]
    folders = dict(glsl=glsl, wgsl=wgsl)
    declarations = Declarations(path)
    shaders = {language: Shaders(folders[language], language) for language in folders}
    if not errors:
        for language in folders:
            check_files(declarations, shaders[language])
            check_operators(operators, shaders[language])
    if errors:
        sys.exit("\n".join(errors))
    header, source = [], ['/* Written by tools/cmake/kernels.py. */\n#include "kernel_list.h"\n\n#include <string.h>\n']
    write_header(declarations, header)
    for kernel in declarations.kernels.values():
        write_kernel(declarations, kernel, source)
    packed, stems = "packed" in options, {language: set(of.lines) for language, of in shaders.items()}
    for option in options:
        if option.startswith("only="):
            with open(option[5:]) as file:
                kernels = file.read().split()
            stems = {language: needed(declarations, of, kernels) for language, of in shaders.items()}
    texts = {language: {stem: compact(of.text(stem)) if packed else of.text(stem)
                        for stem in of.lines if stem in stems[language] and language in options}
             for language, of in shaders.items()}
    whole, starts = place(texts)
    if packed:
        with open(os.path.join(out_dir, "kernels.zlib"), "wb") as file:
            file.write(zlib.compress(whole.encode("ascii"), 9))
    write_texts("" if packed else whole, source)
    for language in folders:
        write_files(declarations, language, texts[language], starts, source)
    for name, lines in (("kernel_list.h", header), ("kernel_list.c", source)):
        with open(os.path.join(out_dir, name), "w") as file:
            file.write("\n".join(lines) + "\n")


main()
