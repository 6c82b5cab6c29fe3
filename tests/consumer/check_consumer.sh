#!/bin/bash
# Installs a build into a scratch prefix, then builds and runs a small project against it: through find_package, through
# pkg-config, and through pkg-config of a system root as packages and cross builds have it. Then looks at what else was
# installed. usage: check_consumer.sh BUILD_DIR
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

if command -v nvcc >/dev/null; then
  echo "== headers whose kernels the caller compiles"
  nvcc -std=c++20 --expt-relaxed-constexpr -arch=sm_90 -ptx "${cflags[@]}" "$here/consumer_kernels.cu" \
    -o "$work/consumer_kernels.ptx"
fi

echo "== pkg-config with a system root"
root=$work/root
DESTDIR=$root cmake --install "$build" --prefix /usr >/dev/null
[ ! -d /usr/local/cuda ] || { mkdir -p "$root/usr/local" && ln -s /usr/local/cuda "$root/usr/local/cuda"; }
pc=$(find "$root" -name gdelta.pc)
in_root() { PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$(dirname "$pc") pkg-config "$@" gdelta; }
read -ra cflags <<<"$(in_root --cflags)"
read -ra libs <<<"$(in_root --libs)"
printf '%s\n' "${cflags[@]}" | grep -qx -- "-I$root/.*" || { echo "headers outside the root: ${cflags[*]}"; exit 1; }
for flag in "${cflags[@]}" "${libs[@]}"; do  # whatever names a folder names one of the root
  case $flag in -[IL]"$root"/*) ;; -[IL]/*|/*) echo "names no folder of the root: $flag"; exit 1 ;; esac
done
g++ -std=c++20 "${cflags[@]}" "$here/consumer.cpp" -o "$work/consumer" "${libs[@]}"
LD_LIBRARY_PATH="$(dirname "$(dirname "$pc")"):${LD_LIBRARY_PATH:-}" "$work/consumer"
if grep -n "$build\|$(cd "$here/../.." && pwd)" "$pc"; then echo "gdelta.pc names folders of the build"; exit 1; fi

echo "== documents"
documents=$work/prefix/share/doc/gdelta
[ -f "$documents/formats/gdelta/spec.md" ]
find "$documents" -name '*.md' | while read -r document; do
  { grep -oE '\]\([^)]*\)' "$document" || true; } | sed -E 's/^..//; s/[)#].*$//' | while read -r link; do
    case $link in *://*|'') continue ;; esac
    [ -e "$(dirname "$document")/$link" ] || { echo "$document links to $link, which is not installed"; exit 1; }
  done
done

[ ! -x "$work/prefix/bin/gdelta" ] || "$work/prefix/bin/gdelta" --version
echo "installed gdelta $(pkg-config --modversion gdelta) serves both"
