#!/bin/bash
# From a bare Debian 12 or Ubuntu 24.04 (git, and root or sudo) to a working gdelta: installs what is needed, builds the
# command and the samples into build/release, makes a sensor, an audio and a point-cloud stream, compresses, lists,
# restores and compares them, on the CPU and on the GPU where there is one.
set -euo pipefail
cd "$(dirname "$0")"

ci/install_dependencies
ci/build release gdelta_cli gdelta_samples
gdelta=build/release/gdelta
work=build/release/quickstart
build/release/samples/make_samples "$work"

devices=(cpu)
if grep -q '^cuda' <<<"$("$gdelta" devices)"; then
  devices+=(cuda)
elif command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
  echo "There is a GPU, but no CUDA Toolkit (nvcc 12 or newer): the CPU does the work."
fi

now() { date +%s%N; }
megabytes_per_second() { awk -v bytes="$1" -v ns="$2" 'BEGIN { printf "%.0f", bytes * 1000 / ns }'; }
# What was chosen, out of `list --json`: the numbers; the lowest and highest order of a lane, and further strides.
numbers_of() { grep -o '"layouts":\["[^"]*"' <<<"$1" | cut -d'"' -f4 || true; }
orders_of() {
  local orders strides
  orders=$(grep -o '"orders":\[[0-9,]*\]' <<<"$1" | grep -o '[0-9]*' | sort -nu | sed -n '1p; $p' | uniq | paste -sd-)
  strides=$(grep -o '"stride":[0-9]*' <<<"$1" | cut -d: -f2 | sort -nu | paste -sd,)
  echo "${orders:--}${strides:+, stride $strides}"
}

failed=0
rows=()
for file in "$work"/*.bin "$work"/*.wav; do
  bytes=$(stat -c %s "$file")
  for device in "${devices[@]}"; do
    packed=$file.$device.gdz
    restored=$work/restored
    start=$(now)
    "$gdelta" compress -q -f --device "$device" -o "$packed" "$file"
    compressed=$(now)
    "$gdelta" decompress -q -f --device "$device" -o "$restored" "$packed"
    end=$(now)
    listing=$("$gdelta" list --json "$packed" | tr -d ' \n')
    identical=no
    ! cmp "$file" "$restored" || identical=yes
    # Both devices write the same stream.
    cmp "$file.cpu.gdz" "$packed" || identical=no
    [ $identical = yes ] || failed=1
    rows+=("$(basename "$file")|$(numbers_of "$listing")|$(orders_of "$listing")|$(awk -v a="$bytes" -v b="$(stat -c %s "$packed")" \
      'BEGIN { printf "%.2f", a / b }')|$device|$(megabytes_per_second "$bytes" $((compressed - start)))|$(
      megabytes_per_second "$bytes" $((end - compressed)))|$identical")
  done
done

echo
"$gdelta" list "$work"/*.cpu.gdz
echo
{
  echo "file|numbers|order|ratio|device|compress MB/s|restore MB/s|identical"
  printf '%s\n' "${rows[@]}"
} | awk -F'|' '{ printf "%-24s %-9s %-18s %6s  %-6s %13s %13s  %s\n", $1, $2, $3, $4, $5, $6, $7, $8 }'
echo
echo "Speeds are of the whole command, its start included. Next: $gdelta --help"
exit $failed
