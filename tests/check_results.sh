#!/usr/bin/env bash
# What tessera run tells of outputs, the files and pipes that it writes them to, labels, folders.
source "$(dirname "$0")/support/common.sh"

floats() { perl -e 'print pack("f<*", @ARGV)' -- "$@"; }
made() { floats "${@:3}" | npy 1 "$(header '<f4' "$2")" >"$1"; } # made FILE SHAPE ELEMENT...
holds() { # holds NAME FILE CONTENT
    [ "$(cat "$2")" = "$3" ] && report yes "$1" || report no "$1" "'$(cat "$2")' instead of '$3'"
}
passing() { "$build/make_case" 17 "Identity x[$1] -> y" "$2.onnx"; }

passing 1,4 scores
passing 1,5,1,1 square
passing 2,3 rows
passing 1,3,2,2 picture
"$build/make_case" 18 'Split x[1,4] -> a b axis=1 num_outputs=2' split.onnx
made s.npy '1, 4' 0.25 nan 3 -1
made q.npy '1, 5, 1, 1' 0.25 0.5 3 -1 0.1
made r.npy '2, 3' 0 1 2 3 4 5.5
made p.npy '1, 3, 2, 2' 0 255 0 255 0 255 0 255 0 255 0 127

# ---- told --------------------------------------------------------------------------------------------

printf 'cat\ndog\r\n\nowl\n\n' >names.txt
printf 'cat\ndog\n' >few.txt
: >none.txt
run() { "$tool" run "$1.onnx" --backend cpu -i "$2.npy" "${@:3}" >out 2>err; }
run scores s --allow-nan --labels names.txt
head -n 5 out >told
holds 'classes from the best, NaN last' told 'y: [1, 4], min -1, mean 0.75, max 3, 1 NaN or infinite
       2  3           
       0  0.25        cat
       3  -1          owl
       1  nan         dog'
run square q --top 2
head -n -1 out >told
holds 'the best two' told 'y: [1, 5, 1, 1], min -1, mean 0.57, max 3
       2  3
       1  0.5'
"$build/make_case" 17 'Identity x[1,400000] -> y' large.onnx
perl -e 'print pack "f<*", map { $_ % 1009 } 0 .. 399999' | npy 1 "$(header '<f4' '1, 400000')" >large.npy
timeout 20 "$tool" run large.onnx --backend cpu -i large.npy --top 400000 >told 2>err
check 'all of many classes' sh -c 'sed -n "2p;400001p" told | tr -s " " | tr "\n" , | grep -qx " 1008 1008, 399564 0,"'
run rows r
head -n -1 out >told
holds 'no classes of two rows' told 'y: [2, 3], min 0, mean 2.58333, max 5.5'
expect 2 'few.txt: has 2 labels' run square.onnx --backend cpu -i q.npy --labels few.txt
expect 2 'no labels' run square.onnx --backend cpu -i q.npy --labels none.txt
expect 2 'missing.txt' run square.onnx --backend cpu -i q.npy --labels missing.txt
expect 2 'is not a text' run square.onnx --backend cpu -i q.npy --labels q.npy
expect 0 '; prepared in ' run square.onnx --backend cpu -i q.npy

network=${TSR_MODELS:-$source/../shared/models}/mobilenet_v1_025_imagenet
if [ -f "$network/model.onnx" ]; then
    seq -f 'name %g' 0 999 >imagenet.txt
    "$tool" run "$network/model.onnx" --backend cpu -i "$network/input_0.npy" --labels imagenet.txt >out 2>err
    sed -n '2,6s/.*  //p' out | tr '\n' ' ' >told
    check 'five names of a network, its pelican first' grep -Eq '^name 144 (name [0-9]+ ){4}$' told
else
    lacking "the networks ($network); TSR_MODELS names their folder"
fi

# ---- files -------------------------------------------------------------------------------------------

run rows r -o r.txt && holds '.txt' r.txt '0 1 2
3 4 5.5'
run rows r -o r.csv && holds '.csv' r.csv '0,1,2
3,4,5.5'
run scores s --allow-nan -o s.json && holds '.json' s.json '{"shape": [1, 4], "data": [0.25, "NaN", 3, -1]}'
expect 0 "not written: output 'b'; -o FOLDER/ writes all" run split.onnx --backend cpu -i s.npy --allow-nan -o a.npy
expect 0 'deep/er/b.csv: b [1, 2]' run split.onnx --backend cpu -i s.npy --allow-nan -o deep/er/ --format csv
holds 'a folder of any depth' deep/er/b.csv '3,-1'
expect 0 'deep/a.npy: a [1, 2]' run split.onnx --backend cpu -i s.npy --allow-nan -o deep
expect 0 'some/of/a.npy' run split.onnx --backend cpu -i s.npy --allow-nan -o a=some/of/a.npy
run rows r -o - && mv out piped && run rows r -o file.npy
check '-o - is .npy' cmp piped file.npy
run rows r -o - --format txt && holds '-o - as text' out '0 1 2
3 4 5.5'
cp err told
check 'the rest is told on stderr' grep -q '^y: \[2, 3\], min 0' told
mkdir in && cp r.npy in/one.npy && cp r.npy in/two.npy
expect 0 '2 files' run rows.onnx --backend cpu -i in -o many/of --format csv
check 'many in a format' cmp many/of/one.csv r.csv
cp s.npy in/two.npy
expect 0 'in/two.npy: y [1, 4], min -1' run scores.onnx --backend cpu --allow-nan -i 'in/two*' -o many/of/scores_*.csv \
    --labels names.txt --top 1
holds 'the best class of each of many' out 'in/two.npy: y [1, 4], min -1, mean 0.75, max 3, 1 NaN or infinite
       2  3           '
check 'which are written as well' test -s many/of/scores_two.csv
expect 2 'few.txt: has 2 labels' run scores.onnx --backend cpu --allow-nan -i 'in/two*' --labels few.txt
"$tool" run scores.onnx --backend cpu --allow-nan -i 'in/two*' -o 'many/of/told_*.csv' >out 2>err
check 'nothing is told of what is written' test ! -s out
rm in/two.npy
expect 0 'ran on cpu: 1 file in' run rows.onnx --backend cpu -i in -o many --format csv

# ---- pictures ----------------------------------------------------------------------------------------

for model in 'scores s' 'square q'; do
    read -r name tensor <<<"$model"
    expect 2 'is a vector, not a picture' run $name.onnx --backend cpu -i $tensor.npy --allow-nan -o y.png
done
expect 0 'p.png: values from 0 to 255 leave the range 0:1 and were cut; --range 0:255' \
    run picture.onnx --backend cpu -i p.npy -o p.png
"$build/make_case" 17 'Identity x[1,1,1,2] -> y' pair.onnx
suggests() { # suggests RANGE ELEMENT ELEMENT
    made pair.npy '1, 1, 1, 2' "${@:2}"
    expect 0 "--range $1 suits them" run pair.onnx --backend cpu -i pair.npy -o pair.png
}
suggests 0:300 300 300
suggests -300:1 -300 -300
suggests -200:12400 -123.4 12345.6
suggests -1:2 -0.2 1.3
suggests 0:255 -12 270
suggests 1000000:1001240 1000000 1001234
mkdir vectors && cp q.npy vectors/one.npy
expect 2 'is a vector, not a picture' run square.onnx --backend cpu -i vectors -o pictures
run picture p -o p.png --range 0:255
cp err told
check 'nothing is said of a range that holds' test ! -s told
finish
