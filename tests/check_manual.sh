#!/bin/bash
# Manual pages, help and bash's completion come from the same tables of options.
source "$(dirname "$0")/support/common.sh"

long_names() { # in order of appearance, once each, of a help text's or a page's options
    grep -oE '^( +|\.B|\\fB).*' "$1" | sed 's/\\-/-/g; s/\\f[BIR]//g' |
        grep -oE '^ *(-[a-zA-Z], +)?--[a-z0-9-]+' | grep -oE -e '--[a-z0-9-]+'
}

complete_line() { # complete_line WORD...: what bash offers for the last word
    bash -c 'source completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _tessera "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

offers() { # offers EXPECTED WORD...
    complete_line "${@:2}" >offered
    check "'${*:2}' is completed: $1" grep -qxF -e "$1" offered
}

"$tool" completion >completion
check "bash reads the completion" bash -n completion
commands=$("$tool" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
check "--help lists commands" test "$(wc -w <<<"$commands")" -ge 10
"$tool" man >tessera.1
for command in $commands; do
    "$tool" "$command" --help >help
    "$tool" man "$command" >page
    long_names help >in_help
    long_names page >in_page
    check "options of $command are in its help" grep -qx -e --verbose in_help
    check "the page of $command has the options of its help, in that order" cmp in_help in_page
    complete_line tessera "$command" -- >offered
    check "every option of $command is completed" cmp <(sort offered) <(sort -u in_help)
    check "the page of tessera names $command" grep -q "tessera.-$command (1)" tessera.1
    offers "$command" tessera "${command:0:3}"
done
offers crop tessera run model.onnx --fit c
offers fp16 tessera bench --precision=x -p f
complete_line tessera run --output '' >offered
check 'a file follows --output' sh -c '! grep -q . offered'
complete_line tessera run mod >offered
check 'files are completed by bash' sh -c '! grep -q . offered'
expect 2 "no command 'frobnicate'" man frobnicate

# Where man is installed: it finds nothing to complain about.
if command -v groff >/dev/null; then
    for page in tessera.1 page; do
        groff -man -Tutf8 -ww "$page" 2>complaints >shown
        check "groff reads $page" sh -c '! grep -q . complaints'
    done
fi
finish
