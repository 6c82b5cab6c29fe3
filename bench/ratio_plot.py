"""Draws ratio against speed as SVG, with nothing but the standard library."""
import math

WIDTH, HEIGHT, LEFT, TOP = 460, 320, 60, 30


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def draw(path, panels, points):
    """Panels side by side, of a title each. points: (codec, setting) -> (ratio, a speed or None for each panel)."""
    ratios = [point[0] for point in points.values()]
    low, high = min(ratios) * 0.95, max(ratios) * 1.05
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(panels) * (WIDTH + LEFT)}" height="{HEIGHT + 80}" '
             'font-family="sans-serif" font-size="10">']
    for panel, title in enumerate(panels):
        x0 = LEFT + panel * (WIDTH + LEFT)
        shown = {way: (point[0], point[1 + panel]) for way, point in points.items() if point[1 + panel]}
        speeds = [speed for _, speed in shown.values()]
        slow, fast = math.log10(min(speeds)) - 0.1, math.log10(max(speeds)) + 0.1
        parts.append(f'<rect x="{x0}" y="{TOP}" width="{WIDTH - 20}" height="{HEIGHT}" fill="none" stroke="#888"/>'
                     f'<text x="{x0}" y="{TOP - 8}" font-size="12">{title}</text>')
        for power in range(math.ceil(slow), math.floor(fast) + 1):
            x = x0 + (power - slow) / (fast - slow) * (WIDTH - 20)
            parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{TOP}" y2="{TOP + HEIGHT}" stroke="#ddd"/>'
                         f'<text x="{x:.0f}" y="{TOP + HEIGHT + 14}" text-anchor="middle">{10 ** power:g}</text>')
        for tick in range(math.ceil(low), math.floor(high) + 1):
            y = TOP + HEIGHT - (tick - low) / (high - low) * HEIGHT
            parts.append(f'<text x="{x0 - 6}" y="{y:.0f}" text-anchor="end">{tick}</text>'
                         f'<line x1="{x0}" x2="{x0 + WIDTH - 20}" y1="{y:.0f}" y2="{y:.0f}" stroke="#ddd"/>')
        for (codec, setting), (ratio, speed) in shown.items():
            x = x0 + (math.log10(speed) - slow) / (fast - slow) * (WIDTH - 20)
            y = TOP + HEIGHT - (ratio - low) / (high - low) * HEIGHT
            colour = "#c00" if codec == "gdelta" else "#369"
            parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{colour}"/>'
                         f'<text x="{x + 5:.0f}" y="{y + 3:.0f}" fill="{colour}">{codec} {setting}</text>')
    parts.append("</svg>")
    with open(path, "w") as out:
        out.write("\n".join(parts) + "\n")
