#!/usr/bin/env python3
"""Draws what a program prints as a picture of a terminal, for the pages and the README.

    (./run.sh --no-install | sed -n '/^2,000 digits/,/^CPU[*]/p'; ./run.sh count --no-install | sed -n '/^What a step/,$p') |
        docs/terminal_figure.py './run.sh, and ./run.sh count' >docs/figures/tour.svg
"""

import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, MARGIN, BAR = 7.23, 17, 16, 26  # of a letter, of a line, around the text, above it


NO_BREAK = "\u00a0"  # of several spaces, SVG would leave one


def main():
    title = sys.argv[1] if len(sys.argv) > 1 else ""
    lines = sys.stdin.read().rstrip("\n").split("\n")
    width = max(len(line) for line in [*lines, "x" * 80]) * WIDTH + 2 * MARGIN
    height = len(lines) * HEIGHT + 2 * MARGIN + BAR
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
          f'width="{width:.0f}" height="{height:.0f}">')
    print('<rect width="100%" height="100%" rx="8" fill="#14212b"/>')
    for x in (16, 34, 52):
        print(f'<circle cx="{x}" cy="15" r="5" fill="#4b6272"/>')
    style = "font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"12\""
    print(f'<text x="{width / 2:.0f}" y="19" text-anchor="middle" fill="#8fa6b5" {style}>{escape(title)}</text>')
    print(f'<g fill="#dbe6ec" {style}>')
    for number, line in enumerate(lines):
        if line:
            text = escape(line).replace(" ", NO_BREAK)
            y = BAR + MARGIN + HEIGHT * number + 12
            print(f'<text x="{MARGIN}" y="{y}" textLength="{len(line) * WIDTH:.1f}">{text}</text>')
    print("</g>\n</svg>")


if __name__ == "__main__":
    main()
