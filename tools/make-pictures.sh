#!/usr/bin/env bash
# Makes the pictures of the README in demos/pictures: an animation of the demo, a strip of sketch, result and hidden
# layer, and the results of the sketches drawn by hand. Needs a build (BUILD, else build/), Xvfb and ImageMagick.
set -euo pipefail
source_folder=$(realpath "$(dirname "$0")/..")
build=$(realpath "${BUILD:-$source_folder/build}")
pictures=$source_folder/demos/pictures
sketches=$source_folder/demos/sketches
model=$source_folder/demos/models/edges2emoji.onnx
folder=$(mktemp -d)
cd "$folder"

mkfifo number
Xvfb -displayfd 3 -screen 0 1400x900x24 3>number 2>/dev/null &
trap 'kill $!; rm -rf "$folder"' EXIT
read -r display <number
export DISPLAY=:$display

# The strokes in pieces, with a screenshot of the window after each.
film() { # film SKETCH
    echo 'window 960 560'
    awk 'function look() { printf "wait\nscreenshot film_%03d.png\n", shots++ }
        $1 != "stroke" { print; next }
        { for (i = 2; i < NF - 2; i += 16) {
              printf "stroke"
              for (j = i; j < i + 18 && j <= NF; j++) printf " %s", $j
              printf "\n"
              look()
          } }' "$1"
}
film "$sketches/hand_fish.txt" >film.txt
"$build/pix2pix" --script film.txt
convert -delay 18 film_*.png -delay 250 "$(printf '%s\n' film_*.png | tail -n 1)" -resize 50% -colors 96 -layers Optimize \
    "$pictures/drawing.gif"

for sketch in "$sketches"/hand_*.txt; do
    name=$(basename "$sketch" .txt)
    { cat "$sketch" && printf 'wait\nsave %s\n' "$name"; } >one.txt
    "$build/pix2pix" --script one.txt
done
montage hand_*-both.png -tile 2x -geometry 384x192+6+6 -colors 255 png8:"$pictures/hand.png"

"$build/tessera" show "$model" -i hand_fish-input.png --range -1:1 --layer up6 -o mosaic.png
convert hand_fish-input.png hand_fish-output.png \( mosaic.png -resize x256 \) -bordercolor white -border 4 +append -colors 255 \
    "$pictures/strip.png"
ls -l "$pictures"
