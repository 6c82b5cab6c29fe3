#!/usr/bin/env python3
"""Means of what gpu_codec_bench printed, and ratio against speed as SVG.

    bench/plot_gpu_codec.py bench/results/h200/codec.csv bench/results/h200/codec.svg
"""
import csv
import sys

from ratio_plot import draw, geometric_mean


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as table:
        rows = list(csv.DictReader(line for line in table if not line.startswith("#")))
    files = {row["file"] for row in rows}
    by_way = {}
    for row in rows:
        by_way.setdefault((row["codec"], row["level"]), []).append(row)

    def mean(of, key):
        values = [float(row[key]) for row in of if row[key]]
        return geometric_mean(values) if len(values) == len(of) else None

    points = {way: (mean(of, "ratio"), mean(of, "encode_gb_s"), mean(of, "decode_gb_s"))
              for way, of in by_way.items() if len(of) == len(files)}
    for (codec, level), (ratio, encode, decode) in sorted(points.items(), key=lambda point: point[1][0]):
        print(f"{codec + ' ' + level:20} ratio {ratio:6.3f}  encode {encode or 0:7.1f}  decode {decode:7.1f} GB/s")
    ours = [row for row in rows if row["codec"] == "gdelta"]
    for peer in rows:
        if peer["codec"] == "gdelta":
            continue
        better = [row for row in ours if row["file"] == peer["file"] and float(row["ratio"]) > float(peer["ratio"])
                  and float(row["decode_gb_s"]) > float(peer["decode_gb_s"])]
        if not better:
            print(f"no better point than {peer['codec']} {peer['level']} on {peer['file']}: "
                  f"ratio {peer['ratio']}, decode {peer['decode_gb_s']} GB/s")
    draw(sys.argv[2], ("ratio against GB/s, encoding on the device", "ratio against GB/s, decoding"), points)


if __name__ == "__main__":
    main()
