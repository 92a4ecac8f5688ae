#!/usr/bin/env bash
# All memory of the library comes from tsr_set_allocator(): only src/base/allocator.c calls the C library's functions,
# and nothing asks it for memory by other means.
set -euo pipefail

functions='malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|free|strdup|strndup|asprintf|vasprintf'
functions+='|getline|open_memstream|scandir'
pattern="(^|[^A-Za-z0-9_.>])($functions)\\(|realpath\\([^()]*, NULL\\)"

# Prints each call in tree $1; comments are no calls.
direct_calls() {
    local file
    (cd "$1" && find . -name '*.[ch]' ! -path ./base/allocator.c | sort) | while read -r file; do
        sed -e 's|/\*.*\*/||; /\/\*/,/\*\//d' "$1/$file" | { grep -nE "$pattern" || true; } | sed "s|^|$file:|"
    done
}

# The check itself is checked.
sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
mkdir "$sample/base"
printf 'int x; /* from malloc(3) */\n/* free(x),\n   calloc(1, 2) */\nvoid *y = tsr_malloc(4);\nint z = t.free(y) + t->free(y);\n' >"$sample/base/good.c"
[ -z "$(direct_calls "$sample")" ] || { echo "check_allocator.sh: finds what is no fault"; exit 1; }
for call in 'malloc(4)' ' free(x)' '(strndup(x, 4))' 'realpath(x, NULL)'; do
    echo "$call;" >"$sample/base/bad.c"
    [ -n "$(direct_calls "$sample")" ] || { echo "check_allocator.sh: does not find $call"; exit 1; }
done

found=$(direct_calls "${TSR_SOURCE_DIR:-.}/src")
if [ -n "$found" ]; then
    echo "memory that tsr_set_allocator() does not give:"
    echo "$found"
    exit 1
fi
