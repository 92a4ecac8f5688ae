#!/usr/bin/env bash
# Makes the pictures of the README in demos/pictures: an animation of the demo, a strip of sketch, result and hidden
# layer, and the results of the sketches drawn by hand. Needs a build (BUILD, else build/), Xvfb, ffmpeg and ImageMagick.
set -euo pipefail
source_folder=$(realpath "$(dirname "$0")/..")
build=$(realpath "${BUILD:-$source_folder/build}")
pictures=$source_folder/demos/pictures
sketches=$source_folder/demos/sketches
model=$source_folder/demos/models/edges2emoji.onnx
folder=$(mktemp -d)
cd "$folder"

mkfifo number
Xvfb -noreset -displayfd 3 -screen 0 1400x900x24 3>number 2>/dev/null &
trap 'kill $!; rm -rf "$folder"' EXIT
read -r display <number
export DISPLAY=:$display

# Some sketches one after the other, each to be looked at in the end: the lines first, then the colours.
subjects=(cat fish house mushroom)
{
    echo 'window 960 560'
    for subject in "${subjects[@]}"; do
        printf 'film %s 2\n' "$subject"
        cat "$sketches/hand_$subject.txt"
        printf 'wait\nscreenshot %s-last.png\nkey C\n' "$subject"
    done
} >film.txt
"$build/pix2pix" --script film.txt
for subject in "${subjects[@]}"; do
    printf "file '%s'\nduration 0.04\n" "$subject"-[0-9]*.png
    printf "file '%s'\nduration 1.8\n" "$subject-last.png"
done >frames.txt
echo "file '${subjects[-1]}-last.png'" >>frames.txt # ffmpeg drops the last duration
scaled='scale=720:-2:flags=area,split[a][b];[a]palettegen[p]'
ffmpeg -loglevel error -y -f concat -i frames.txt \
    -filter_complex "$scaled;[b][p]paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle" -fps_mode vfr "$pictures/drawing.gif"

for sketch in "$sketches"/hand_*.txt; do
    name=$(basename "$sketch" .txt)
    { cat "$sketch" && printf 'wait\nsave %s\n' "$name"; } >one.txt
    "$build/pix2pix" --script one.txt
done
montage hand_*-both.png -tile 4x -geometry 320x160+5+5 -depth 8 "$pictures/hand.png"

"$build/tessera" show "$model" -i hand_fish-input.png --range -1:1 --layer up6 -o mosaic.png
convert hand_fish-input.png hand_fish-output.png \( mosaic.png -resize x256 \) -bordercolor white -border 4 +append -colors 255 \
    "$pictures/strip.png"
ls -l "$pictures"
