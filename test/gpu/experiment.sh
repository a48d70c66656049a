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
# Not by default: attention-quick (N = 6144 only), gemm-variants and attention-variants (other constants, for tuning; build-variants
# compiles them beforehand).
# Usage: test/gpu/experiment.sh [PART ..]
cd "$(dirname "$0")/../.." || exit 1
out=build/experiment
mkdir -p $out
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$(dirname "$(readlink -f "$nvcc")")")/lib64
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

# Every gemm library of the goldens: its entry bears the name of its file.
entries() {
    for source in test/codegen/gemm*.expected.cu; do
        name=$(basename "$source" .expected.cu)
        layout=NN
        [[ $name =~ _(nt|tn|tt)$ ]] && layout=${BASH_REMATCH[1]^^}
        [ -e $out/$name.so ] && echo "$name:$PWD/$out/$name.so:$name:$layout"
    done
}

# variant BASE NAME SED..: a golden with other constants, as build/experiment/NAME.so.
variant() {
    local base=$1 name=$2
    shift 2
    sed "$@" test/codegen/$base.expected.cu > $out/$name.cu
    up_to_date $out/$name.so $out/$name.cu && return
    $nvcc -std=c++20 -O3 $arch -shared -Xcompiler -fPIC -Iruntime/include -Xptxas -v,--warn-on-spills -o $out/$name.so $out/$name.cu > $out/$name.log 2>&1 ||
        { echo "$name: nvcc failed"; grep -m3 error $out/$name.log; }
    if grep -qE '\(C75[0-9][0-9]\)|[1-9][0-9]* bytes spill' $out/$name.log; then echo "$name: $(grep -m1 -oE '\(C75[0-9][0-9]\)|[1-9][0-9]* bytes spill' $out/$name.log)"; fi
}

# BM BN BK W slots. Two warpgroups start with 256 registers a thread each: nothing to hand over.
tile() { echo "s/constexpr int BM = 128, BN = 256, BK = 64, W = 2;/constexpr int BM = $1, BN = $2, BK = $3, W = $4;/; s/constexpr int slots = 4;/constexpr int slots = $5;/; s/constexpr int threads = 384;/constexpr int threads = $((128 * ($4 + 1)));/$([ $4 = 1 ] && echo "; /crease_registers</d")"; }
order() { echo "s/constexpr int super_rows = 8;/constexpr int super_rows = $1;/"; }

gemm_variants() {
    variant gemm gemm_rows4 -e "$(order 4)" &
    variant gemm gemm_rows12 -e "$(order 12)" &
    variant gemm gemm_rows16 -e "$(order 16)" &
    variant gemm_cluster cluster_rows16 -e "$(order 16)" &
    wait
    variant gemm gemm_128x192 -e "$(tile 128 192 64 2 5)" &
    variant gemm gemm_128x128 -e "$(tile 128 128 64 2 6)" &
    variant gemm gemm_128x128x128 -e "$(tile 128 128 128 2 3)" &
    variant gemm gemm_128x64x128 -e "$(tile 128 64 128 2 4)" &
    wait
    variant gemm gemm_64x128x128 -e "$(tile 64 128 128 1 4)" &
    variant gemm gemm_64x64x128 -e "$(tile 64 64 128 1 6)" &
    wait
}
specs() { for name in "$@"; do symbol=gemm; [[ $name == *cluster* ]] && symbol=gemm_cluster; echo "$name:$PWD/$out/$name.so:$symbol:NN"; done; }

attention_variants() {
    # No turns; other blocks of keys and slots; tiles in plain order.
    variant attention_forward attention_no_turns -e '/named_barrier/d' &
    variant attention_forward attention_160 -e 's/<false, 176, 2>/<false, 160, 2>/; s/<true, 128, 3>/<true, 128, 2>/' &
    wait
    variant attention_forward attention_128 -e 's/<false, 176, 2>/<false, 128, 3>/; s/heads = int(tk::max<int64_t>(1,/heads = int(tk::max<int64_t>(8,/' &
    variant attention_forward attention_forwards -e 's/(wave % 2 == 0 ? block : blocks - 1 - block)/block/' &
    wait
}

for part in $parts; do
    case $part in
        build) build ;;
        check) for entry in $(entries); do timeout 100 $out/gemm_check --overhead "$entry"; done ;;
        big) for entry in $(entries); do timeout 200 $out/gemm_check --cases 8 --big "$entry"; done ;;
        quick) timeout 120 $out/gemm_bench --quick $(entries) ;;
        bench) timeout 400 $out/gemm_bench $(entries) ;;
        attention) timeout 300 python3 test/gpu/attention_bench.py $PWD/$out/attention_forward.so ;;
        gemm-variants)
            gemm_variants
            timeout 200 $out/gemm_bench --rounds 5 --shape 4096x4096x4096 --shape 8192x8192x8192 --shape 16384x16384x16384 $(specs gemm gemm_cluster gemm_rows4 gemm_rows12 gemm_rows16 cluster_rows16)
            timeout 100 $out/gemm_bench --rounds 5 --shape 1024x1024x1024 --shape 2048x2048x2048 --shape 16x4096x4096 --shape 8192x1024x28672 $(specs gemm gemm_128x192 gemm_128x128 gemm_128x128x128 gemm_128x64x128 gemm_64x128x128 gemm_64x64x128)
            ;;
        attention-variants)
            attention_variants
            timeout 200 python3 test/gpu/attention_bench.py --bench --quick --rounds 5 $out/attention_{forward,no_turns,160,128,forwards}.so
            ;;
        build-variants)
            gemm_variants
            attention_variants
            ;;
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
