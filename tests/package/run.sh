#!/usr/bin/env bash
# Installs Votive into an empty folder, moves it, and uses it from outside: by find_package and by pkg-config.
#   tests/package/run.sh BUILD_FOLDER
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/outside" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake --install "$build" --prefix "$place/first" > "$place/install.log" || { cat "$place/install.log"; exit 1; }
# An installed Votive works wherever it is moved to.
mv "$place/first" "$place/votive"

expect() { # what it said
  [[ $1 == *"Votive works from outside"* ]] || { echo "the program said: $1"; exit 1; }
}

cmake -S "$here" -B "$place/cmake" -DCMAKE_PREFIX_PATH="$place/votive" -DCMAKE_BUILD_TYPE=Release &> "$place/cmake.log" ||
  { cat "$place/cmake.log"; exit 1; }
cmake --build "$place/cmake" &> "$place/cmake.log" || { cat "$place/cmake.log"; exit 1; }
expect "$("$place/cmake/outsider")"
echo "  find_package(votive CONFIG): $("$place/cmake/outsider")"

export PKG_CONFIG_PATH=$place/votive/lib/pkgconfig:$(echo "$place"/votive/lib/*/pkgconfig)
# Word splitting is how pkg-config's answer is meant to be used.
# shellcheck disable=SC2046
g++ -std=c++20 "$here/outsider.cpp" $(pkg-config --cflags --libs votive) -o "$place/outsider"
export LD_LIBRARY_PATH=$place/votive/lib
expect "$("$place/outsider")"
echo "  pkg-config votive: $("$place/outsider")"

[[ $(pkg-config --cflags votive) != *-f* ]] || { echo "the pkg-config file leaks flags: $(pkg-config --cflags votive)"; exit 1; }
echo "  library $(du -hL "$(find "$place/votive" -name 'libvotive.*' | head -n 1)" | cut -f 1), $(find "$place/votive/include" -name '*.h' | wc -l) headers"
