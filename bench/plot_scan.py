#!/usr/bin/env python3
"""Draws the results of scan_bench as SVG, with nothing but the standard library.

    bench/plot_scan.py bench/results/h200/scan.csv bench/results/h200
"""
import csv
import math
import sys

WIDTH, HEIGHT, MARGIN = 720, 420, 60
COLOURS = ["#1b6ca8", "#c8553d", "#2a9d5c", "#8d5a97", "#c99a2e", "#4a4a4a", "#d36ba6", "#3aa6a6"]


def plot(path, title, x_label, series):
    """series: name -> [(x, fraction of copy)]; x is drawn on a logarithmic axis."""
    series = {name: sorted(points) for name, points in series.items() if len(points) > 1}
    if not series:
        return
    xs = [math.log2(x) for points in series.values() for x, _ in points]
    low, high = min(xs), max(xs)
    top = max(1.0, max(y for points in series.values() for _, y in points))

    def place(x, y):
        left = MARGIN + (math.log2(x) - low) / max(high - low, 1e-9) * (WIDTH - 2.6 * MARGIN)
        return left, HEIGHT - MARGIN - y / top * (HEIGHT - 2 * MARGIN)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
           'font-size="11"><rect width="100%" height="100%" fill="white"/>',
           f'<text x="{MARGIN}" y="30" font-size="14">{title}</text>',
           f'<text x="{WIDTH / 2 - 60}" y="{HEIGHT - 14}">{x_label}</text>']
    for tick in range(0, 11, 2):
        _, y = place(2 ** low, tick / 10 * top)
        out.append(f'<line x1="{MARGIN}" x2="{WIDTH - 1.6 * MARGIN}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{MARGIN - 30}" y="{y + 4:.1f}">{tick / 10 * top:.2f}</text>')
    for x in sorted({x for points in series.values() for x, _ in points}):
        left, y = place(x, 0)
        power = math.log2(x)
        if len(set(xs)) < 14 or power == int(power) and int(power) % 2 == 0:
            label = str(x) if x < 2000 else f"2^{power:.0f}"
            out.append(f'<text x="{left - 8:.1f}" y="{y + 16:.1f}">{label}</text>')
    for i, (name, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join("%.1f,%.1f" % place(x, y) for x, y in points)
        dash = ' stroke-dasharray="5 3"' if name.startswith("CUB") else ""
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>')
        out.append(f'<text x="{WIDTH - 1.5 * MARGIN}" y="{MARGIN + 15 * i}" fill="{colour}">{name}</text>')
    out.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(out) + "\n")


def main():
    rows = list(csv.DictReader(open(sys.argv[1])))
    folder = sys.argv[2]
    for row in rows:
        for key in ("order", "tuple", "n"):
            row[key] = int(row[key])
    sums = [row for row in rows if row["op"] == "sum"]
    for kind in ("u32", "u64"):
        sizes, orders, tuples, grid = {}, {}, {}, {}
        for row in sums:
            if row["type"] != kind:
                continue
            ours = float(row["fraction_of_copy"])
            cub = float(row["cub_fraction_of_copy"] or 0)
            if row["tuple"] == 1 and row["order"] in (1, 2, 4, 8):
                sizes.setdefault(f"order {row['order']}", []).append((row["n"], ours))
                if cub and row["order"] in (1, 2):
                    sizes.setdefault(f"CUB x{row['order']}", []).append((row["n"], cub))
            if row["n"] == 1 << 28:
                if row["tuple"] == 1:
                    orders.setdefault("this scan", []).append((row["order"], ours))
                    if cub:
                        orders.setdefault("CUB repeated", []).append((row["order"], cub))
                if row["order"] == 1 and row["tuple"] <= 64:
                    tuples.setdefault("this scan", []).append((row["tuple"], ours))
                    if cub:
                        tuples.setdefault("CUB", []).append((row["tuple"], cub))
                if row["tuple"] <= 64:
                    grid.setdefault(f"order {row['order']}", []).append((row["tuple"], ours))
        plot(f"{folder}/scan_sizes_{kind}.svg", f"{kind} sum, fraction of a copy of the same size", "values", sizes)
        plot(f"{folder}/scan_orders_{kind}.svg", f"{kind} sum of 2^28 values", "order", orders)
        plot(f"{folder}/scan_tuples_{kind}.svg", f"{kind} sum of 2^28 values, order 1", "tuple", tuples)
        plot(f"{folder}/scan_grid_{kind}.svg", f"{kind} sum of 2^28 values, orders and tuples together", "tuple", grid)


if __name__ == "__main__":
    main()
