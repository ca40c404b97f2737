#!/usr/bin/env python3
"""Draws the pictures of the lessons into docs/figures: lesson_figures.py [NAME...]

Each function below draws the picture of its name. Where a picture shows times, they are those of benchmarks/results.
"""

import json
import math
import sys
from xml.sax.saxutils import escape

from guide import DARK, FIGURES, REPOSITORY

INK, GREY, LINE, BACK, EDGE = "#16302f", "#5b7572", "#7fa9a4", "#f6faf9", "#c9dbd8"
GREEN, PALE, ORANGE, SAND, VIOLET, WHITE = "#2ba896", "#d8f1ec", "#f4a259", "#fbdcbc", "#ddd7f0", "#ffffff"
WIDTH = 760


class Picture:
    """An SVG in the manner of the guide's."""

    def __init__(self, title, height):
        self.title, self.height, self.parts = title, height, []

    def box(self, x, y, width, height, fill=WHITE, edge=LINE, text="", bold=False, thick=1, size=13, radius=4):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" fill="{fill}" '
                          f'stroke="{edge}" stroke-width="{thick}"/>')
        for number, line in enumerate(lines := text.split("\n") if text else []):
            self.text(x + width / 2, y + height / 2 + 5 + (number - (len(lines) - 1) / 2) * (size + 3), line, "middle", bold, size)

    def text(self, x, y, words, anchor="start", bold=False, size=13, fill=INK):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"{weight}>'
                          f"{escape(words)}</text>")

    def line(self, points, arrow=False, stroke=INK, thick=1.4, dashed=False):
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        self.parts.append(f'<path d="M{path}" stroke="{stroke}" stroke-width="{thick}" fill="none"'
                          + ' marker-end="url(#arrow)"' * arrow + ' stroke-dasharray="4 3"' * dashed + "/>")

    def cells(self, x, y, rows, columns, size, colour, gap=1.5):
        for i in range(rows):
            for j in range(columns):
                self.parts.append(f'<rect x="{x + size * j:g}" y="{y + size * i:g}" width="{size - gap:g}" '
                                  f'height="{size - gap:g}" rx="1" fill="{colour(i, j)}"/>')

    def svg(self):
        body = "\n  ".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" width="{WIDTH}" '
                f'height="{self.height}" role="img" font-family="Helvetica, Arial, sans-serif">\n  {DARK}\n'
                f"  <title>{escape(self.title)}</title>\n"
                f'  <rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{self.height - 1}" rx="10" fill="{BACK}" stroke="{EDGE}"/>\n'
                '  <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                f'<path d="M0 0L8 4L0 8z" fill="{INK}"/></marker>\n  {body}\n</svg>\n')


def front():
    tour = json.loads((REPOSITORY / "benchmarks/results/tour.json").read_text(encoding="utf-8"))["stages"]
    p = Picture("The same network computed in five ways, with the time of a step of 1,000 images under each", 216)
    top = 44
    names = [("01 loops", "stage01_serial"), ("02 a grid", "stage02_naive_cuda"), ("03 shared tiles", "stage03_shared_memory"),
             ("04 fused graph", "stage04_minibatch"), ("05 two GPUs", "stage05_mpi")]
    for place, (title, name) in enumerate(names):
        x = 15 + place * 150
        p.text(x + 65, 28, title, "middle", True)
        if place == 0:
            p.cells(x + 17, top + 10, 6, 6, 16, lambda i, j: GREEN if (i, j) == (2, 3) else PALE if i * 6 + j < 15 else WHITE)
            p.line([(x + 19, top + 50), (x + 61, top + 50)], True)
        elif place == 1:
            p.cells(x + 17, top + 10, 6, 6, 16, lambda i, j: GREEN)
        elif place == 2:
            p.cells(x + 17, top + 10, 6, 6, 16, lambda i, j: GREEN if (i // 3 + j // 3) % 2 else ORANGE)
            for k in range(4):
                p.box(x + 16 + 48 * (k % 2), top + 9 + 48 * (k // 2), 48, 48, "none", INK, thick=1.6, radius=0)
        elif place == 3:
            for row in range(4):
                left = 18 if row % 2 == 0 else 64
                p.box(x + left, top + 8 + 26 * row, 40, 18, GREEN, GREEN)
                if row < 3:
                    p.line([(x + left + 28, top + 26 + 26 * row), (x + (72 if row % 2 == 0 else 46), top + 34 + 26 * row)], True)
            p.box(x + 10, top + 1, 104, 112, "none", ORANGE, thick=2, radius=8)
        else:
            p.cells(x + 8, top + 18, 6, 3, 16, lambda i, j: GREEN)
            p.cells(x + 76, top + 18, 6, 3, 16, lambda i, j: ORANGE)
            p.line([(x + 56, top + 54), (x + 73, top + 54)], True)
            p.line([(x + 74, top + 74), (x + 58, top + 74)], True)
        step = 1e9 / tour[name]["images_per_second"]
        time = f"{step / 1000:.1f} ms" if step >= 1000 else f"{step:.0f} us" if step >= 100 else f"{step:.1f} us"
        p.text(x + 65, 184, time, "middle", True, 18)
        p.text(x + 65, 203, tour[name]["on"], "middle", fill=GREY)
    return p


def gpu_memory():
    p = Picture("The memories of a GPU, from a thread's registers to the host's memory", 400)
    rows = [("registers", "one thread", "256 KB an SM", "at once", 250, GREEN),
            ("shared memory and L1", "one block", "256 KB an SM, of which 228 KB shared", "about 30 cycles", 330, GREEN),
            ("L2 cache", "all SMs", "50 MB", "about 260 cycles", 420, ORANGE),
            ("global memory (HBM)", "all threads, and the host by copies", "141 GB, 4.8 TB/s", "about 480 cycles", 520, ORANGE),
            ("host memory", "the host; the GPU by PCIe", "as much as there is, 64 GB/s", "microseconds", 620, VIOLET)]
    p.text(20, 30, "who sees it", bold=True, fill=GREY)
    p.text(740, 30, "latency", "end", bold=True, fill=GREY)
    for number, (name, who, size, latency, width, fill) in enumerate(rows):
        y = 44 + 70 * number
        p.box(380 - width / 2, y, width, 52, fill, INK, f"{name}\n{size}", number < 4, size=13)
        if number:
            p.line([(380, y - 18), (380, y - 2)], True)
    for number, (name, who, size, latency, width, fill) in enumerate(rows):
        y = 44 + 70 * number
        if number < 3:
            p.text(20, y + 31, who, fill=GREY)
            p.text(740, y + 31, latency, "end", fill=GREY)
        else:
            p.text(380 - width / 2, y + 66, who, fill=GREY, size=12)
            p.text(380 + width / 2, y + 66, latency, "end", fill=GREY, size=12)
    return p


def gpu_sm():
    p = Picture("A streaming multiprocessor has four schedulers, each with its warps; while some wait for memory, one computes", 330)
    p.text(20, 28, "one SM of 132", bold=True)
    states = "wwcwwwww wwwwrwww wrwwwcww wwwwwwcw".split()
    for s in range(4):
        x = 20 + s * 182
        p.box(x, 42, 172, 150, WHITE, LINE)
        p.text(x + 86, 60, f"scheduler {s + 1}", "middle", True)
        for w in range(16):
            state = (states[s] * 2)[w] if w < 8 else "w"
            p.box(x + 12 + (w % 8) * 19, 70 + (w // 8) * 24, 16, 19, {"w": SAND, "c": GREEN, "r": PALE}[state], LINE, radius=2)
        p.box(x + 12, 128, 148, 24, PALE, LINE, "32 float, 16 double units", size=12)
        p.box(x + 12, 158, 148, 24, VIOLET, LINE, "a tensor core", size=12)
    p.box(20, 204, 718, 36, PALE, LINE, "64 K registers: what a thread keeps stays here while its warp waits")
    p.box(20, 250, 718, 36, PALE, LINE, "shared memory of the blocks that run here, and L1 cache: 256 KB")
    for x, fill, words in ((20, GREEN, "executes"), (130, PALE, "ready"), (220, SAND, "waits for memory")):
        p.box(x, 300, 14, 14, fill, LINE, radius=2)
        p.text(x + 20, 312, words)
    p.text(738, 312, "up to 64 warps are resident: 16 a scheduler", "end", fill=GREY)
    return p


def gpu_roofline():
    p = Picture("A roofline: three operations of the network below the roof of an H200", 360)
    left, right, bottom, top = 90, 730, 300, 40
    def x(intensity): return left + (right - left) * (math.log10(intensity) + 1.3) / 3.8
    def y(flops): return bottom - (bottom - top) * (math.log10(flops) + 1) / 3.1
    bandwidth, peak = 4.8, 67
    ridge = peak / bandwidth
    for power in (-1, 0, 1, 2):
        p.line([(x(10 ** power), bottom), (x(10 ** power), top)], stroke=EDGE, thick=1)
        p.text(x(10 ** power), bottom + 18, f"{10 ** power:g}", "middle", fill=GREY)
    for power in (-1, 0, 1):
        p.line([(left, y(10 ** power)), (right, y(10 ** power))], stroke=EDGE, thick=1)
        p.text(left - 8, y(10 ** power) + 5, f"{10 ** power:g}", "end", fill=GREY)
    p.line([(x(0.06), y(0.06 * bandwidth)), (x(ridge), y(peak)), (right, y(peak))], thick=2.4)
    p.text(x(0.9), y(0.9 * bandwidth) - 14, "4.8 TB/s from HBM", "end", True)
    p.text(x(60), y(peak) - 8, "67 TFLOP/s in float", "middle", True)
    for name, operations, moved in (("relu", 25600, 2 * 4 * 25600), ("sums of columns", 25600, 4 * (25600 + 256)),
                                        ("the product 100 x 256 x 784", 2 * 100 * 256 * 784, 4 * (78400 + 200704 + 25600))):
        at = operations / moved
        roof = min(peak, at * bandwidth)
        p.line([(x(at), bottom), (x(at), y(roof))], stroke=ORANGE, thick=1.4, dashed=True)
        p.box(x(at) - 5, y(roof) - 5, 10, 10, ORANGE, INK, radius=5)
        if name.startswith("the"):
            p.text(x(at) - 8, (y(roof) + bottom) / 2, name, "end")
            p.text(x(at) - 8, (y(roof) + bottom) / 2 + 18, f"{at:.0f} operations a byte", "end", fill=GREY)
        elif name == "relu":
            p.text(x(at) - 6, y(roof) - 12, f"relu: {at:.2g}", "middle")
        else:
            p.text(x(at) + 8, y(roof) + 22, f"{name}: {at:.2g}")
    p.text((left + right) / 2, 346, "arithmetic intensity: operations for a byte of global memory", "middle", fill=GREY)
    p.text(20, 28, "TFLOP/s", fill=GREY)
    return p


def blocks_over_array():
    p = Picture("1,000 elements and four blocks of 256 threads: the last 24 threads have no element", 190)
    p.text(20, 30, "4 blocks of 256 threads = 1,024 threads", bold=True)
    for block in range(4):
        x = 20 + block * 181
        p.box(x, 44, 176, 44, PALE, GREEN, f"block {block}")
        p.line([(x + 88, 90), (x + 88, 116)], True)
    p.box(20 + 3 * 181 + 176 - 17, 44, 17, 44, SAND, ORANGE)
    p.box(20, 120, 720 - 19, 30, VIOLET, INK, "1,000 elements: i = blockIdx.x * blockDim.x + threadIdx.x")
    p.text(738, 172, "24 threads beyond the end: if (i < n) keeps them out", "end")
    p.line([(735, 90), (735, 156)], stroke=ORANGE, dashed=True)
    return p


def copies_in_time():
    p = Picture("Host and device in time: copies in, a kernel, a copy out", 190)
    p.text(20, 56, "host", bold=True)
    p.text(20, 126, "device", bold=True)
    for x, width, fill, words, y in ((90, 120, SAND, "cudaMemcpy in", 34), (215, 60, PALE, "launch", 34),
                                     (430, 120, SAND, "cudaMemcpy out", 34), (90, 120, SAND, "x arrives", 104),
                                     (290, 135, GREEN, "the kernel runs", 104), (430, 120, SAND, "y leaves", 104)):
        p.box(x, y, width, 34, fill, INK, words)
    p.line([(275, 51), (296, 102)], True)
    p.box(280, 34, 145, 34, "none", LINE, "the host waits", radius=4)
    p.line([(90, 156), (720, 156)], True, stroke=GREY)
    p.text(720, 176, "time", "end", fill=GREY)
    return p


def loop_to_grid():
    p = Picture("Two loops become a grid of blocks: each thread has one element", 260)
    p.text(20, 30, "stage 01: two loops", bold=True)
    p.cells(40, 50, 8, 12, 20, lambda i, j: GREEN if (i, j) == (3, 5) else PALE if i * 12 + j < 41 else WHITE)
    p.line([(42, 120), (136, 120)], True)
    p.text(40, 240, "one element after the other", fill=GREY)
    p.text(440, 30, "stage 02: a grid of 3 x 2 blocks", bold=True)
    p.cells(460, 50, 8, 12, 20, lambda i, j: GREEN)
    for k in range(6):
        p.box(459 + 80 * (k % 3), 49 + 80 * (k // 3), 80, 80, "none", INK, thick=2, radius=0)
    p.box(559 - 20 + 0, 69 + 20 + 20, 20, 20, ORANGE, INK, radius=1)
    p.text(460, 240, "thread (0, 3) of block (1, 0): row 3, column 4", fill=GREY)
    p.line([(310, 130), (430, 130)], True, thick=2)
    return p


def step_in_time():
    p = Picture("Two training steps of stage 02 in time: the host gathers, copies and launches; the GPU follows", 236)
    for y, words in ((66, "host"), (126, "copies"), (186, "GPU")):
        p.text(20, y, words, bold=True)
        p.line([(84, y + 22), (742, y + 22)], stroke=EDGE, thick=1)
    for x, wait in ((86, 0), (356, 34)):
        p.box(x, 44, 62, 34, PALE, LINE, "gather")
        if wait:
            p.box(x + 64, 44, wait, 34, VIOLET, LINE, "wait", size=12)
        x += wait
        p.box(x + 64, 44, 40, 34, SAND, LINE, "copy")
        p.box(x + 62, 104, 44, 34, SAND, LINE, "batch")
        p.text(x + 108, 34, "19 launches", fill=GREY)
        for k in range(19):
            p.box(x + 108 + 8.4 * k, 44, 6.6, 34, ORANGE, INK, radius=1)
        at = x + 118
        for width in (24, 5, 5, 5, 5, 5, 5, 5, 5, 16, 16, 5, 5, 24, 5, 5, 5, 5, 5):
            if at + width < 742:
                p.box(at, 164, width, 34, GREEN, INK, radius=1)
            at += width + 5
    p.text(20, 224, "Not to scale. The host gathers batch 2 while the GPU still computes step 1, then waits for its end.", fill=GREY)
    return p


def coalescing_16():
    p = Picture("A warp of a 16 x 16 block is two rows of 16 threads: what it reads of A and of B in one step", 270)
    p.text(20, 30, "the warp: 2 rows of 16 threads", bold=True)
    p.cells(20, 44, 2, 16, 15, lambda i, j: GREEN)
    p.text(300, 30, "A: two elements, one a row", bold=True)
    p.cells(300, 44, 2, 12, 15, lambda i, j: ORANGE if j == 4 else WHITE)
    p.text(300, 98, "each is read once", fill=GREY)
    p.text(300, 116, "and given to 16 threads", fill=GREY)
    p.text(520, 30, "B: 16 neighbours of one row", bold=True)
    p.cells(510, 44, 2, 16, 15, lambda i, j: ORANGE if i == 0 else WHITE)
    p.text(520, 98, "16 floats: 64 bytes, two sectors", fill=GREY)
    p.line([(20, 140), (740, 140)], stroke=EDGE)
    p.text(20, 166, "with x as the row: 16 neighbours in x read 16 rows of A", bold=True)
    p.cells(20, 178, 5, 16, 15, lambda i, j: SAND if j % 8 == 3 else WHITE)
    p.text(290, 200, "every row is a sector of its own, 32 bytes,")
    p.text(290, 220, "of which 4 bytes are used")
    return p


def eager_and_graph():
    p = Picture("Eager launches against a CUDA graph: the host's calls, and the kernels they start", 250)
    p.text(20, 30, "eager: a call for every kernel", bold=True)
    p.text(20, 62, "host")
    p.text(20, 98, "GPU")
    for k in range(6):
        p.box(90 + k * 100, 46, 88, 24, SAND, INK, "launch")
        p.box(150 + k * 100, 82, 44, 24, GREEN, INK)
        p.line([(160 + k * 100, 70), (164 + k * 100, 81)], True)
    p.text(740, 126, "the GPU waits between two kernels", "end", fill=GREY)
    p.text(20, 160, "replayed graph: one call for all", bold=True)
    p.text(20, 192, "host")
    p.text(20, 228, "GPU")
    p.box(90, 176, 130, 24, SAND, INK, "cudaGraphLaunch")
    p.line([(160, 200), (164, 211)], True)
    for k in range(6):
        p.box(150 + k * 47, 212, 44, 24, GREEN, INK)
    p.text(740, 228, "and the host is free", "end", fill=GREY)
    return p


def shared_barrier():
    p = Picture("A block before and after its barrier: all write, all wait, then all read what others wrote", 240)
    for k, (x, title) in enumerate(((20, "1. each thread writes"), (270, "2. __syncthreads()"),
                                    (520, "3. each thread reads"))):
        p.text(x, 30, title, bold=True)
        for t in range(6):
            p.box(x + 4 + t * 36, 46, 30, 30, GREEN, INK, f"t{t}", size=12)
            p.box(x + 4 + t * 36, 160, 30, 30, ORANGE if k else (ORANGE if t < 3 else WHITE), INK, size=12)
            if k == 0 and t < 3:
                p.line([(x + 19 + t * 36, 78), (x + 19 + t * 36, 158)], True)
            if k == 1:
                p.line([(x + 19 + t * 36, 78), (x + 19 + t * 36, 112)], True)
        if k == 1:
            p.box(x, 114, 220, 10, INK, INK, radius=2)
        if k == 2:
            for t in (0, 2, 4, 5):
                p.line([(x + 19 + t * 36, 158), (x + 19 + 2 * 36, 80)], True)
        p.text(x + 108, 212, "shared memory of the block", "middle", fill=GREY)
    return p


def bias_orders():
    p = Picture("How each stage reads the matrix whose columns it sums", 230)
    titles = ("01 by rows", "02 by columns", "03 a block", "04 in the product", "05 over ranks")
    for k, title in enumerate(titles):
        x = 14 + 150 * k
        p.text(x + 66, 28, title, "middle", True, 12.5)
        if k == 0:
            p.cells(x + 10, 44, 7, 7, 16, lambda i, j: GREEN if i < 2 or (i == 2 and j < 3) else WHITE)
            p.line([(x + 12, 84), (x + 54, 84)], True)
        elif k == 1:
            p.cells(x + 10, 44, 7, 7, 16, lambda i, j: (GREEN, ORANGE)[j % 2] if i < 4 else PALE)
            for j in range(7):
                p.line([(x + 17 + 16 * j, 46), (x + 17 + 16 * j, 104)], True, thick=1)
        elif k == 2:
            p.cells(x + 10, 44, 7, 7, 16, lambda i, j: (GREEN, ORANGE, VIOLET, SAND)[i % 4])
            for j in (1, 3, 5):
                p.line([(x + 17 + 16 * j, 158), (x + 17 + 16 * j, 176)], True)
        elif k == 3:
            p.cells(x + 10, 44, 7, 7, 16, lambda i, j: PALE)
            p.box(x + 9, 158, 112, 16, ORANGE, INK, radius=1)
            p.text(x + 66, 192, "a row of ones", "middle", fill=GREY)
        else:
            p.cells(x + 2, 44, 7, 3, 16, lambda i, j: GREEN)
            p.cells(x + 78, 44, 7, 3, 16, lambda i, j: ORANGE)
            p.line([(x + 52, 96), (x + 74, 96)], True)
            p.line([(x + 74, 116), (x + 52, 116)], True)
        p.text(x + 66, 214, ("one core", "7 threads", "32 x 32 threads", "no kernel of its own", "sum of sums")[k], "middle", fill=GREY)
    return p


def ring_frames():
    p = Picture("The ring of four ranks in 2 (4 - 1) = 6 steps: three that add up, three that pass on", 350)
    ranks = 4
    whole = [[{r} for _ in range(ranks)] for r in range(ranks)]
    frames = [[[len(c) for c in row] for row in whole]]
    for step in range(2 * (ranks - 1)):
        new = [[set(c) for c in row] for row in whole]
        for r in range(ranks):
            chunk = (r - step) % ranks
            to = (r + 1) % ranks
            new[to][chunk] = whole[r][chunk] | whole[to][chunk] if step < ranks - 1 else set(whole[r][chunk])
        whole = new
        frames.append([[len(c) for c in row] for row in whole])
    shades = {1: WHITE, 2: PALE, 3: SAND, 4: GREEN}
    for f, frame in enumerate(frames):
        x, y = 20 + (f % 4) * 185, 40 + (f // 4) * 160
        p.text(x, y - 10, "at first" if f == 0 else f"after step {f}" + (": add" if f < ranks else ": pass on"), bold=True)
        for r in range(ranks):
            p.text(x, y + 19 + 26 * r, f"rank {r}", size=12)
            for c in range(ranks):
                p.box(x + 48 + 28 * c, y + 3 + 26 * r, 25, 22, shades[frame[r][c]], LINE, str(frame[r][c]), size=12, radius=2)
    p.text(575, 232, "how many ranks' values", fill=GREY)
    p.text(575, 250, "a chunk has in it", fill=GREY)
    return p


def network_shapes():
    p = Picture("The network 784-256-10 with the shapes of a batch of 100", 210)
    x = 20
    for words, shape, width, fill in (("images", "100 x 784", 110, PALE), ("fc1: x W + b", "784 x 256", 110, SAND), ("relu", "100 x 256", 90, PALE),
                                      ("fc2: x W + b", "256 x 10", 110, SAND), ("softmax", "100 x 10", 90, PALE), ("loss", "1 number", 80, VIOLET)):
        p.box(x, 50, width, 54, fill, INK, f"{words}\n{shape}")
        if words != "loss":
            p.line([(x + width, 70), (x + width + 24, 70)], True)
            p.line([(x + width + 26, 92), (x + width + 2, 92)], True, stroke=ORANGE)
        x += width + 26
    p.text(20, 32, "forward", bold=True)
    p.text(740, 132, "backward: the same way back, with gradients of the same shapes", "end", bold=True, fill="#8a4b12")
    p.text(20, 168, "203,530 parameters: 784 x 256 + 256 + 256 x 10 + 10. Each gets a gradient of its own;")
    p.text(20, 188, "the update subtracts the learning rate times that gradient.")
    return p


def amdahl():
    text = (REPOSITORY / "benchmarks/results/h200_stage05_two.md").read_text(encoding="utf-8")
    points = []
    for row in text.splitlines():
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        if cells[:1] == ["strong"] and len(cells) > 9 and cells[2] == "2" and "x)" in cells[6]:
            points.append((cells[1], float(cells[6].split("(")[1].rstrip("x)"))))
    p = Picture("Amdahl's law: the speed-up with 1 to 8 processes for four shares that cannot be divided", 330)
    left, bottom, step, unit = 60, 290, 80, 31
    def at(n, speed): return left + (n - 1) * step, bottom - (speed - 1) * unit
    for n in range(1, 9):
        p.text(at(n, 1)[0], bottom + 20, str(n), "middle", fill=GREY)
        p.line([at(1, n), at(8, n)], stroke=EDGE, thick=1)
        p.text(left - 12, at(1, n)[1] + 5, str(n), "end", fill=GREY)
    for share, color in ((0, INK), (0.05, GREEN), (0.2, ORANGE), (0.46, "#7c6fb0")):
        curve = [at(n / 4, 1 / (share + (1 - share) / (n / 4))) for n in range(4, 33)]
        p.line(curve, stroke=color, thick=2.2)
        p.text(curve[-1][0] + 8, curve[-1][1] + 5, "ideal" if share == 0 else f"s = {share * 100:.0f} %")
    for batch, speed in points:
        x, y = at(2, speed)
        p.box(x - 5, y - 5, 10, 10, ORANGE, INK, radius=5)
        p.text(x + 10 if speed < 1.6 else x - 8, y + (18 if speed < 1.6 else -14), f"{speed}x, batch {batch}", "start" if speed < 1.6 else "end", True)
    p.text(left + 3.5 * step, bottom + 36, "processes", "middle", fill=GREY)
    p.text(20, 28, "times as fast", fill=GREY)
    return p


def gemm_ladder_4096():
    rungs = ("naive tile-16 register-column register-tile vector-loads double-buffering warp-tiles async-copies fitted-tiles "
             "3xtf32").split()
    times = {}
    for row in (REPOSITORY / "benchmarks/results/h200_one_loop.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip(" `") for cell in row.split("|")[1:-1]]
        if cells[:2] == ["4096 x 4096 x 4096", "float"] and cells[2] in rungs:
            times[cells[2]] = float(cells[3])
    p = Picture("The rungs of the matrix product at 4096 x 4096 x 4096 on an H200, in TFLOP/s", 44 + 27 * len(rungs))
    p.text(20, 26, "TFLOP/s, 4096 x 4096 x 4096 in float", bold=True)
    for number, name in enumerate(rungs):
        rate = 2 * 4096 ** 3 / times[name] / 1e6
        y = 40 + 27 * number
        p.text(150, y + 15, name, "end")
        p.box(160, y, rate * 8, 20, GREEN if number < 7 else ORANGE, LINE, radius=2)
        p.text(168 + rate * 8, y + 15, f"{rate:.1f}", bold=True)
    p.text(740, 26, "orange: the fast product", "end", fill=GREY)
    return p


def cache_lines():
    p = Picture("A matrix in memory, row after row; its cache lines when it is read by rows and by columns", 250)
    for k, (x, title, words) in enumerate(((20, "by row: a line serves 8 reads", "8 reads, one line loaded"),
                                           (400, "by column: a line serves one", "8 reads, 8 lines loaded"))):
        p.text(x, 30, title, bold=True)
        for i in range(8):
            for j in range(16):
                touched = (i == 0 and j < 8) if k == 0 else j == 0
                loaded = (i == 0 and j < 8) if k == 0 else j < 8
                p.box(x + 20 * j, 46 + 20 * i, 18, 18, GREEN if touched else SAND if loaded else WHITE, LINE, radius=1)
            p.line([(x + 159, 46 + 20 * i), (x + 159, 64 + 20 * i)], stroke=INK, thick=2)
        p.text(x, 230, words, fill=GREY)
    return p


def program_graph():
    p = Picture("The list of a training step as a graph: forward above, backward below, updates at the ends", 260)
    forward = [("gather", 80), ("gemm fc1", 90), ("relu", 60), ("gemm fc2", 90), ("softmax, loss", 110)]
    x = 20
    places = []
    for name, width in forward:
        p.box(x, 40, width, 40, PALE, INK, name)
        places.append((x, width))
        if name != "softmax, loss":
            p.line([(x + width, 60), (x + width + 44, 60)], True)
        x += width + 46
    x = places[4][0]
    p.box(x, 120, 110, 40, SAND, INK, "d logits")
    p.line([(x + 55, 80), (x + 55, 118)], True)
    p.box(places[2][0] - 5, 120, 80, 40, SAND, INK, "d fc1")
    p.line([(x, 140), (places[2][0] + 77, 140)], True)
    p.line([(places[2][0] + 30, 80), (places[2][0] + 30, 118)], True, dashed=True)
    for name, at, source in (("update fc2", places[3][0] + 40, x + 30), ("update fc1", places[1][0], places[2][0] + 20)):
        p.box(at, 200, 110, 40, VIOLET, INK, name)
        p.line([(source, 160), (at + 55, 198)], True)
    p.text(20, 28, "forward", bold=True)
    p.text(20, 146, "backward", bold=True)
    p.text(20, 226, "updates", bold=True)
    p.text(740, 28, "dashed: kept from the forward pass", "end", fill=GREY)
    return p


PICTURES = [front, gpu_memory, gpu_sm, gpu_roofline, bias_orders, blocks_over_array, copies_in_time, network_shapes, cache_lines,
            program_graph, loop_to_grid, step_in_time, coalescing_16, shared_barrier, gemm_ladder_4096, eager_and_graph, ring_frames, amdahl]


def main():
    for draw in PICTURES:
        if len(sys.argv) == 1 or draw.__name__ in sys.argv[1:]:
            (FIGURES / f"{draw.__name__}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
