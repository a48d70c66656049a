#!/bin/bash
# SPDX-License-Identifier: MIT
# The hand-written kernels of test/codegen on the GPU at hand. Parts, in this order, all by default:
#   build      objects into build/experiment (first argument `build` alone: compile where there is no GPU, carry the folder)
#   check      gemm: 240+ shapes against cuBLAS, launcher overhead        about 10 s
#   bench      gemm: the table against cublasLt                           about 40 s
#   quick      gemm: 2048 4096 8192 only                                  about 8 s
#   attention  attention: check, then the table against cuDNN             about 60 s
#   big        gemm: a 65536 x 65536 tensor, strides over 2 GiB           about 20 s
#   sanitize   gemm and attention under memcheck and synccheck            minutes
# Usage: test/gpu/experiment.sh [PART ..]
cd "$(dirname "$0")/../.." || exit 1
out=build/experiment
mkdir -p $out
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
arch=-gencode=arch=compute_90a,code=sm_90a
parts=${*:-build check quick bench attention}
sources=$(ls test/codegen/gemm*.expected*.cu test/codegen/attention_forward.expected.cu 2>/dev/null)

# up_to_date TARGET SOURCE: made from this source and these headers (times do not survive the way to the GPU machine), and
# loads here. Else the stamp is written for the build that follows.
headers=$(find runtime/include test/gpu -name '*.h' -o -name '*.inc' | LC_ALL=C sort | xargs cat | sha1sum)
up_to_date() {
    local stamp
    stamp="$headers $(sha1sum < "$2")"
    if [ -e "$1" ] && [ "$(cat "$1.stamp" 2>/dev/null)" = "$stamp" ]; then
        python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$PWD/$1" 2>/dev/null && return 0
        "$1" --no-such-option 2>&1 | grep -q 'what is' && return 0
    fi
    echo "$stamp" > "$1.stamp"
    return 1
}

build() {
    for source in $sources; do
        name=$(basename "$source" .cu)
        name=${name//.expected/}
        up_to_date $out/$name.so "$source" && continue
        (
            $nvcc -std=c++20 -O3 $arch -shared -Xcompiler -fPIC -Iruntime/include -Xptxas -v,--warn-on-spills -o $out/$name.so "$source" > $out/$name.log 2>&1 ||
                { echo "$name: nvcc failed"; grep -m3 error $out/$name.log; }
            grep -E '\(C75[0-9][0-9]\)|[1-9][0-9]* bytes spill' $out/$name.log | cut -c1-160 | head -3
        ) &
    done
    for program in gemm_bench:cublasLt gemm_check:cublas; do
        name=${program%:*}
        up_to_date $out/$name test/gpu/$name.cu && continue
        $nvcc -std=c++17 -O2 $arch -Iruntime/include test/gpu/$name.cu -o $out/$name -l${program#*:} -ldl -Xlinker -rpath,/usr/local/cuda/lib64 &
    done
    wait
}

# Every gemm library as an entry `gemm`, named by its file.
entries() {
    for library in $out/gemm*.so; do
        name=$(basename "$library" .so)
        [[ $name == gemm_nt* || $name == gemm_tn* || $name == gemm_tt* ]] && continue
        echo "$name:$PWD/$library:gemm:NN"
    done
}

for part in $parts; do
    case $part in
        build) build ;;
        check) for entry in $(entries); do timeout 100 $out/gemm_check --overhead "$entry"; done ;;
        big) for entry in $(entries); do timeout 200 $out/gemm_check --cases 8 --big "$entry"; done ;;
        quick) timeout 120 $out/gemm_bench --quick $(entries) ;;
        bench) timeout 400 $out/gemm_bench $(entries) ;;
        attention) timeout 300 python3 test/gpu/attention_bench.py $PWD/$out/attention_forward.so ;;
        attention-quick) timeout 120 python3 test/gpu/attention_bench.py $PWD/$out/attention_forward.so --quick ;;
        sanitize)
            for tool in memcheck synccheck; do
                for entry in $(entries); do
                    echo "$tool ${entry%%:*}: $(timeout 200 compute-sanitizer --tool $tool $out/gemm_check --cases 20 "$entry" 2>&1 | grep -E 'ERROR SUMMARY|right|Error' | head -4 | tr '\n' ' ')"
                done
                echo "$tool attention: $(timeout 200 compute-sanitizer --tool $tool python3 test/gpu/attention_bench.py $PWD/$out/attention_forward.so --check 2>&1 | grep -E 'ERROR SUMMARY|right|Error' | head -4 | tr '\n' ' ')"
            done
            ;;
        *) echo "experiment.sh: what is $part?"; exit 2 ;;
    esac
done
