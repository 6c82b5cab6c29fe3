#!/bin/bash
# Installs a build into a scratch prefix, then builds and runs a small project against it: once through find_package,
# once through pkg-config. usage: check_consumer.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
# Whatever the build itself needed to find its dependencies, the consumer needs too.
mapfile -t inherited < <(sed -nE 's/^(CMAKE_PREFIX_PATH|CMAKE_CXX_FLAGS|CMAKE_CXX_COMPILER|CUDAToolkit_ROOT):[A-Z]+=(.+)/-D\1=\2/p' \
  "$build/CMakeCache.txt" | sed "s#^-DCMAKE_PREFIX_PATH=#&$work/prefix;#")
printf '%s\n' "${inherited[@]}" | grep -q CMAKE_PREFIX_PATH || inherited+=("-DCMAKE_PREFIX_PATH=$work/prefix")

echo "== find_package(gdelta)"
cmake -S "$here" -B "$work/build" -G Ninja "${inherited[@]}" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/build/consumer"

echo "== pkg-config"
pc=$(dirname "$(find "$work/prefix" -name gdelta.pc)")
export PKG_CONFIG_PATH="$pc:${PKG_CONFIG_PATH:-}"
read -ra cflags <<<"$(pkg-config --cflags gdelta)"
read -ra libs <<<"$(pkg-config --libs gdelta)"
g++ -std=c++20 "${cflags[@]}" "$here/consumer.cpp" -o "$work/consumer" "${libs[@]}"
LD_LIBRARY_PATH="$(pkg-config --variable=libdir gdelta):${LD_LIBRARY_PATH:-}" "$work/consumer"

[ ! -x "$work/prefix/bin/gdelta" ] || "$work/prefix/bin/gdelta" --version
echo "installed gdelta $(pkg-config --modversion gdelta) serves both"
