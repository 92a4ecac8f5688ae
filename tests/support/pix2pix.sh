# Sourced by check_pix2pix*.sh after common.sh: the demo and a display of its own. Arguments: what else the test cannot do
# without.
source "$source/tests/support/window.sh"

export XDG_STATE_HOME=$folder/state # where drawings are kept

pix2pix=$build/pix2pix
for need in "$pix2pix" Xvfb "$@"; do
    command -v "$need" >/dev/null || { lacking "${need##*/}" "${TSR_REQUIRE_DRIVER:-}"; finish; }
done
has_device gles || { lacking 'a gles device' "${TSR_REQUIRE_DRIVER:-}"; finish; }
open_display
