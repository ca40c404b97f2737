#!/usr/bin/env python3
"""The pages of the guide are plain Markdown (docs/pages); this connects them with the code and with Doxygen.

  guide.py update         writes the listings into the pages, and where their code is; figures get their dark variant
  guide.py check          fails where a page and the code differ, a link leads nowhere, a result is none, a
                          lesson is too long or has no picture
  guide.py filter PAGE    prints the page as Doxygen's Markdown
  guide.py finish HTML    completes what Doxygen has written: links to code, previous and next, search

A page marks a listing like this, and `update` writes the rest; what a program has said comes from a file likewise:

  <!-- listing: stages/02_naive_cuda/reduce.cu column_sums -->
  <!-- said: cuda_on_cpu/tests/mistakes/barrier_divergence.txt -->

and the paragraph or table whose numbers are those of a file of results:

  <!-- numbers: benchmarks/results/h200_gemm.md -->

A listing's name is that of a region of the source: between two lines that are "//! [column_sums]", in Python "## [...]".
"""

import html
import json
import os
import re
import sys
import textwrap
from pathlib import Path

DOCS = Path(__file__).resolve().parent
REPOSITORY = DOCS.parent
PAGES = DOCS / "pages"
FIGURES = DOCS / "figures"
# The pictures' dark variant: light and dark change places, hues stay. A terminal and the logo are dark anyway.
DARK = "<style>@media (prefers-color-scheme: dark) { :root { filter: invert(0.93) hue-rotate(180deg); } }</style>"
ALWAYS_DARK = {"tour.svg", "logo.svg"}
FENCE = re.compile(r"(^```.*?^```[ ]*$)", re.MULTILINE | re.DOTALL)
LANGUAGES = {".py": "python", ".sh": "bash", ".cmake": "cmake"}
MARK = re.compile(
    r"^<!-- (?P<kind>listing|said): (?P<path>\S+)(?: (?P<region>\S+))? -->\n"
    r"(?:\n\[`[^\n]*\n)?(?:\n```\w*\n(?:.*?\n)?```\n)?", re.MULTILINE | re.DOTALL)


class Mistake(Exception):
    """A sentence for whoever writes the page."""


def region(path, name):
    """The region's lines, without the margin that all have, and the number of the first."""
    try:
        lines = (REPOSITORY / path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Mistake(f"there is no file {path}") from error
    marks = [i for i, line in enumerate(lines) if re.fullmatch(rf"\s*(//!|##) \[{re.escape(name)}\]", line)]
    if len(marks) != 2:
        raise Mistake(f"{path} marks the region {name} {len(marks)} times, not twice")
    begin, end = marks[0] + 1, marks[1]
    kept = [line for line in lines[begin:end] if not re.fullmatch(r"\s*(//!|##) \[\w+\]", line)]
    return textwrap.dedent("\n".join(kept)).strip("\n"), begin + 1, end


def fenced(mark):
    """A marked listing as it should be."""
    path, name = mark["path"], mark["region"]
    if mark["kind"] == "said":
        language = "diff" if path.endswith(".patch") else "text"
        text = (REPOSITORY / path).read_text(encoding="utf-8").strip("\n")
        return f"<!-- said: {path} -->\n\n```{language}\n{text}\n```\n"
    code, first, last = region(path, name)
    language = LANGUAGES.get(Path(path).suffix, "cpp")
    place = f"[`{path}`, lines {first} to {last}](../../{path}#L{first}-L{last})"
    return f"<!-- listing: {path} {name} -->\n\n{place}\n\n```{language}\n{code}\n```\n"


def with_listings(text):
    return MARK.sub(fenced, text)


def slug(heading):
    """What a repository's browser makes of a heading: the name of its anchor."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", re.sub(r"\*\*|`", "", text).strip().lower())
    return text.replace(" ", "-")


def outside_of_code(text, change):
    """The text with `change` made to it, but not in blocks and spans of code."""
    parts = FENCE.split(text)
    for i in range(0, len(parts), 2):
        spans = re.split(r"(`[^`]+`)", parts[i])
        spans[::2] = [change(span) for span in spans[::2]]
        parts[i] = "".join(spans)
    return "".join(parts)


def headings(text):
    """Level, text and anchor of each heading."""
    found, seen = [], {}
    for i, part in enumerate(FENCE.split(text)):
        for level, heading in re.findall(r"^(#{1,4}) (.*?)[ \t]*$", part, re.MULTILINE) if i % 2 == 0 else ():
            anchor = slug(heading)
            seen[anchor] = seen.get(anchor, -1) + 1
            found.append((len(level), heading, anchor + (f"-{seen[anchor]}" if seen[anchor] else "")))
    return found


def links(text):
    """The targets of the links and pictures outside of code."""
    found = []
    outside_of_code(re.sub(r"`([^`\n]*)`\]\(", r"\1](", text), lambda part: found.extend(
        re.findall(r"\]\(([^)\s]+)\)", part)) or part)
    return found


def read_pages():
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(PAGES.glob("*.md"))}


def course():
    """The names of the course's pages."""
    layout = (DOCS / "layout.xml").read_text(encoding="utf-8")
    return re.findall(r'url="@ref (\w+)"', re.search(r'title="The course">(.*?)</tab>\n    <tab type="usergroup"', layout, re.DOTALL)[1])


def words(text):
    """How many a reader reads: without listings, and what programs say."""
    return len(re.sub(r"```.*?```", "", MARK.sub("", text), flags=re.DOTALL).split())


def too_long(pages):
    lengths = {name: words(pages[f"{name}.md"]) for name in course()}
    for name, length in lengths.items():
        if length > 2200:
            yield f"docs/pages/{name}.md has {length:,} words; a lesson has at most 2,200"
        if not re.search(r"^!\[", pages[f"{name}.md"], re.MULTILINE):
            yield f"docs/pages/{name}.md, a lesson, has no picture"
    if sum(lengths.values()) > 30000:
        yield f"the course has {sum(lengths.values()):,} words; it has at most 30,000"


def dead_links(pages):
    anchors = {name: {anchor for _, _, anchor in headings(text)} | set(re.findall(r'<a id="(\w+)">', text))
               for name, text in pages.items()}
    for name, text in pages.items():
        for target in links(text):
            path, _, anchor = target.partition("#")
            if re.match(r"\w+:", target):
                continue
            if path and not (PAGES / path).exists():
                yield f"docs/pages/{name}: there is no {target}"
            elif anchor and (path or name) in anchors and anchor not in anchors[path or name]:
                yield f"docs/pages/{name}: there is no heading {target}"
    for path in sorted(REPOSITORY.glob("*.md")) + sorted(REPOSITORY.glob("*/*.md")):
        for target in links(path.read_text(encoding="utf-8")) if path.parent.name != "build" else ():
            file, _, anchor = target.partition("#")
            page = (path.parent / file).resolve()
            if not re.match(r"\w+:", target) and file and not page.exists():
                yield f"{path.relative_to(REPOSITORY)}: there is no {target}"
            elif anchor and page.parent == PAGES and anchor not in anchors[page.name]:
                yield f"{path.relative_to(REPOSITORY)}: there is no heading {target}"


def unknown_sections(pages):
    """Sections that an exercise tells its reader to read first, and that are not there."""
    for path in sorted((REPOSITORY / "exercises").glob("*/exercise.md")):
        fields = dict(re.findall(r"^(page|section): (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))
        text = pages.get(f"{fields['page']}.md", "")
        if fields["section"] not in [heading for _, heading, _ in headings(text)]:
            yield f"{path.relative_to(REPOSITORY)}: docs/pages/{fields['page']}.md has no section {fields['section']}"


def unknown_numbers(name, text):
    """Numbers of a marked paragraph or table that its files of results do not hold."""
    for files, block in re.findall(r"^<!-- numbers: ([^>]*) -->\n\n?(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL):
        try:
            known = " ".join((REPOSITORY / path).read_text(encoding="utf-8") for path in files.split())
        except OSError as error:
            yield f"docs/pages/{name}: {error}"
            continue
        known = [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", known.replace(",", ""))]
        block = re.sub(r"\]\([^)]*\)|`[^`]*`", " ", block).replace(",", "")
        for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*[a-z]\d)", block):
            if len(number) > 1 and not any(is_rounded(number, value * unit) for value in known for unit in (1, 1e-3)):
                yield f"docs/pages/{name}: {number} is not in {files}"


def is_rounded(number, value):
    """Whether a page may say `number` where the result is `value`: as it is, or with fewer digits."""
    digits = len(number.partition(".")[2])
    return f"{value:.{digits}f}" == number


def dark_variants(write):
    for path in sorted(FIGURES.glob("*.svg")):
        text = path.read_text(encoding="utf-8")
        if path.name in ALWAYS_DARK or DARK in text:
            continue
        if write:
            path.write_text(re.sub(r"(<svg\b[^>]*>)", lambda tag: f"{tag[1]}\n  {DARK}", text, count=1), encoding="utf-8")
        else:
            yield f"docs/figures/{path.name} has no dark variant: docs/guide.py update"


def update(write):
    wrong = list(dark_variants(write))
    pages = read_pages()
    for name, text in pages.items():
        try:
            new = with_listings(text)
        except (Mistake, OSError) as error:
            wrong.append(f"docs/pages/{name}: {error}")
            continue
        if new != text and write:
            (PAGES / name).write_text(new, encoding="utf-8")
        elif new != text:
            wrong.append(f"docs/pages/{name} differs from the code that it shows: docs/guide.py update")
    pages = read_pages()
    wrong += [*dead_links(pages), *too_long(pages), *unknown_sections(pages)]
    for name, text in pages.items():
        wrong += unknown_numbers(name, text)
    return wrong


# --- For Doxygen ------------------------------------------------------------------------------------------------------

def address(page, anchor):
    """An anchor as Doxygen needs it: of letters that it leaves alone, and of one page only."""
    return f"{Path(page).stem}_{anchor.replace('-', '_')}"


def site_link(page, text, target):
    """A link as it is in the site, where files that are not part of it are only named."""
    path, _, anchor = target.partition("#")
    if re.match(r"\w+:", target):
        return f"[{text}]({target})"
    if path.endswith(".md") and "/" not in path or not path:
        there = Path(path or page).stem
        return f"[{text}]({there}.html" + (f"#{address(path or page, anchor)}" if anchor else "") + ")"
    if Path(path).suffix not in {".hpp", ".cpp", ".cuh", ".cu"}:
        return text
    where = os.path.normpath(os.path.join("docs/pages", path))
    return f"[{text}](code:{where}" + (f"#{anchor}" if anchor else "") + ")"


def boxes(text):
    """The text with each listing in a box, and two that follow one another side by side if they are narrow."""
    def box(mark):
        content = re.sub(r"\n\n(?=```)", "\n", mark[0].partition("\n\n")[2].rstrip("\n"), count=1)
        return f'<div class="{mark["kind"]}">\n{content}\n</div>\n'

    def pair(match):
        widest = max(len(line) for line in match[0].splitlines() if not line.startswith(("[", "<")))
        boxed = MARK.sub(box, match[0])
        return f'<div class="side-by-side">\n{boxed}</div>\n' if widest <= 78 else boxed

    one = MARK.pattern.replace("?P<kind>", "?:").replace("?P<path>", "?:").replace("?P<region>", "?:")
    two = re.sub("listing\\|said", "listing", one)
    text = re.sub(f"{two}\n+{two}", pair, text, flags=re.MULTILINE | re.DOTALL)
    return MARK.sub(box, text)


def filtered(page, text):
    anchors = iter(headings(text))

    def heading(match):
        level, _, anchor = next(anchors)
        name = Path(page).stem
        return f"{match[1]} {{#{'mainpage' if name == 'index' else name}}}" + "\n\n[TOC]\n" * (name != "index") \
            if level == 1 else f"{match[1]} {{#{address(page, anchor)}}}"

    def prose(part):
        part = re.sub(r"^ *\$\$\n(.*?)\n *\$\$$", r"\n\\f[\n\1\n\\f]\n", part, flags=re.MULTILINE | re.DOTALL)
        part = re.sub(r"\$([^$\n]+(?:\n[^$\n]+)?)\$", r"\\f$\1\\f$", part)
        return re.sub(r"<a id=\"(\w+)\"></a>", lambda found: f"\\anchor {address(page, found[1])} ", part)

    parts = FENCE.split(boxes(text))
    for i, part in enumerate(parts):
        if i % 2 == 0:
            part = re.sub(r"^(#{1,4} .*?)[ \t]*$", heading, part, flags=re.MULTILINE)
            part = re.sub(r"^!\[([^\]]*)\]\(\.\./figures/(\S+)\)$", r'\\image html \2 "\1"', part, flags=re.MULTILINE)
            part = re.sub(r"\[([^\]]*)\]\(([^)\s]+)\)", lambda link: site_link(page, *link.groups()), part)
            spans = re.split(r"(`[^`]+`)", part)
            spans[::2] = [prose(span) for span in spans[::2]]
            parts[i] = "".join(spans)
    for i in range(1, len(parts), 2):
        if re.match(r"```text\n", parts[i]) and not parts[i - 1].rstrip().endswith('<div class="said">'):
            parts[i] = f"<div class=\"said\">\n{parts[i]}\n</div>"
    return "".join(parts)


# --- What Doxygen has written ---------------------------------------------------------------------------------------

def order():
    """Files and titles of the pages, as the navigation lists them."""
    layout = (DOCS / "layout.xml").read_text(encoding="utf-8")
    pages = [("index", "Stagewise")] + re.findall(r'url="@ref (\w+)" title="([^"]*)"', layout)
    return [(name, html.unescape(title)) for name, title in pages]


def sources(api):
    """The page of each source file: its name, relative to the repository, and the file under `api`."""
    found = {}
    for page in api.glob("*_source.html"):
        head = page.read_text(encoding="utf-8", errors="replace")[:3000]
        title = re.search(r"<title>[^:<]*: (\S+) Source File</title>", head)
        if title:
            found[html.unescape(title[1])] = page.name
    return found


def neighbours(pages, name):
    names = [page for page, _ in pages]
    at = names.index(name) if name in names else None
    links_to = []
    for step, word, rel in ((-1, "Previous", "prev"), (1, "Next", "next")):
        if at is not None and 0 <= at + step < len(names):
            there, title = pages[at + step]
            links_to.append(f'<a class="{rel}" rel="{rel}" href="{there}.html"><span>{word}</span>'
                            f"{html.escape(title)}</a>")
    return f'<nav class="neighbours" aria-label="Previous and next page">{"".join(links_to)}</nav>' if links_to else ""


def sections(body, name, title):
    """The page's text by sections, for the search."""
    body = re.sub(r"<(script|style|nav)\b.*?</\1>|<div class=\"toc.*?</div>", " ", body, flags=re.DOTALL)
    pieces = re.split(r"<h[1-4][^>]*>(?=.{0,40}<a class=\"anchor\")", body, flags=re.DOTALL)
    for i, piece in enumerate(pieces):
        anchor = re.search(r'<a class="anchor" id="([^"]+)"', piece) if i else None
        heading = re.match(r"(.*?)</h[1-4]>", piece, re.DOTALL) if i else None
        text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", piece))).strip()
        if text:
            yield {"page": title, "url": f"{name}.html" + (f"#{anchor[1]}" if anchor else ""), "text": text,
                   "title": re.sub(r"<[^>]+>", "", html.unescape(heading[1])).strip() if heading else title}


def finish(folder):
    code = sources(folder / "api")
    pages = order()
    titles = dict(pages)
    found = []
    missing = set()
    for path in [*folder.glob("dir_*.html"), *folder.glob("pages.html")]:  # about the folder of the pages
        path.unlink()
    for path in sorted(folder.glob("*.html")):
        text = path.read_text(encoding="utf-8")

        def to_code(match):
            name, _, lines = match[1].partition("#")
            if name not in code:
                if not (REPOSITORY / name).exists():
                    missing.add(name)
                return match[2]
            line = re.match(r"L(\d+)", lines)
            at = f"#l{int(line[1]):05d}" if line else ""
            return f'<a class="code" href="api/{code[name]}{at}">{match[2]}</a>'

        text = re.sub(r'<a href="code:([^"]*)">(.*?)</a>', to_code, text, flags=re.DOTALL)
        text = re.sub(r'<html xmlns="[^"]*">', '<html lang="en">', text, count=1)
        text = text.replace('<div id="doc-content">', '<div id="doc-content" role="main" tabindex="0">', 1)
        text = re.sub(r'(<div class="image">\s*<object type="image/svg\+xml") data="([^"]*)"(.*?<div class="caption">\s*)'
                      r"(.*?)(\s*</div>)", r'\1 data="\2" role="img" aria-label="\4"\3\4\5', text, flags=re.DOTALL)
        contents = re.search(r'<div class="contents">(.*)</div><!-- contents -->', text, re.DOTALL)
        if path.stem in titles and contents:
            found += sections(contents[1], path.stem, titles[path.stem])
            text = text.replace("</div><!-- contents -->",
                                f"{neighbours(pages, path.stem)}</div><!-- contents -->", 1)
        path.write_text(text, encoding="utf-8")
    (folder / "guide-text.js").write_text("const guideText = " + json.dumps(found) + ";\n", encoding="utf-8")
    return [f"a page links to {name}, which does not exist" for name in sorted(missing)]


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "filter":
        page = Path(arguments[0])
        print(filtered(page.name, page.read_text(encoding="utf-8")))
        return 0
    wrong = finish(Path(arguments[0])) if command == "finish" else update(write=command == "update")
    print("\n".join(wrong), end="\n" * bool(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
