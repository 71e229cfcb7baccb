#!/usr/bin/env bash
# The rows of examples/ in candle 0.11, debug and release (its integers overflow differently in the two), compared with what those programs say.
#   tools/compare_candle/run.sh [BUILD]     BUILD holds the two programs (default: build/release); ends with 1 when a row has no explanation
# Needs cargo and python3. Builds in a cache folder outside the repository; what is there already is kept.
set -euo pipefail
readonly HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly BUILD=$(realpath -m "${1:-$HERE/../../build/release}")
readonly CACHE=$(realpath -m "${VOTIVE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/votive}/compare_candle")
# As cargo builds it: for other instruction sets candle adds f32 in another order, and the last digits of 20 rows change.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS
mkdir -p "$CACHE"
cd "$HERE"
cargo build -q --locked --target-dir "$CACHE"
cargo build -q --locked --target-dir "$CACHE" --release
"$CACHE/debug/compare-candle" > "$CACHE/debug.jsonl"
"$CACHE/release/compare-candle" > "$CACHE/release.jsonl"
python3 "$HERE/../compare_rows.py" "$BUILD" candle-debug="$CACHE/debug.jsonl" candle-release="$CACHE/release.jsonl"
