#!/usr/bin/env python3
"""Builds the book and checks the documentation: relative links of Markdown files and of built pages lead to existing files and headings,
the summary lists every page once, and the introduction lists every crate, after those that depend on it. mdbook must be in PATH. No network is
needed."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

root = Path(__file__).resolve().parent.parent
docs, book = root / "docs", root / "book"
problems = []
checked = 0


class Page(HTMLParser):
    """Links and identifiers of a built page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.add(attributes["id"])
        if tag in ("a", "img") and (link := attributes.get("href", attributes.get("src"))):
            self.links.append(link)


def text_of(path):
    """The text of a Markdown file without code."""
    text = re.sub(r"^( *)```.*?^\1```", "", path.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda code: code.group().translate({91: None, 93: None}), text)


def headings(path):
    """The anchors of a Markdown file's headings, in the spelling of GitHub and mdBook."""
    lines = re.findall(r"^#+ +(.*)", text_of(path), flags=re.M)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).strip().lower() for line in lines]
    return {re.sub(r"[^\w\- ]", "", line).replace(" ", "-") for line in plain}


def check(source, link, anchors):
    """Checks one link of a file. `anchors` returns the anchors of a target, or None if the target has none."""
    global checked
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    checked += 1
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if not target.exists():
        problems.append(f"{source.relative_to(root)}: {link}: there is no such file")
    elif root not in (target, *target.parents):
        problems.append(f"{source.relative_to(root)}: {link}: leads out of the repository")
    elif parts.fragment and (known := anchors(target)) is not None and parts.fragment not in known:
        problems.append(f"{source.relative_to(root)}: {link}: there is no such heading")


def check_markdown():
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=root, capture_output=True, text=True, check=True)
    for name in tracked.stdout.split():
        path = root / name
        for link in re.findall(r"\]\(([^)\s]+)\)", text_of(path)):
            check(path, link, lambda target: headings(target) if target.suffix == ".md" else None)


def check_summary():
    entries = re.findall(r"^ *(?:- )?\[.*\]\((.*)\)", (docs / "SUMMARY.md").read_text(), flags=re.M)
    pages = sorted(str(path.relative_to(docs)) for path in docs.rglob("*.md") if path.name != "SUMMARY.md")
    for page in pages:
        if entries.count(page) != 1:
            problems.append(f"docs/SUMMARY.md: expected {page} once, found it {entries.count(page)} times")


def check_book():
    # Warnings of mdbook do not change its exit status.
    built = subprocess.run(["mdbook", "build"], cwd=root, capture_output=True, text=True)
    if built.returncode != 0 or re.search(r"\b(WARN|ERROR)\b", built.stderr):
        problems.append(f"mdbook build: exit status {built.returncode}\n{built.stderr.strip()}")
        return
    pages = {path: Page(path) for path in book.glob("**/*.html") if path.name not in ("404.html", "print.html", "toc.html")}
    for path, page in pages.items():
        for link in page.links:
            check(path, link, lambda target: pages[target].ids if target in pages else None)


os.environ.setdefault("NO_COLOR", "1")
check_markdown()
check_summary()
check_book()
for problem in problems:
    print(problem)
print(f"{checked} links checked, {len(problems)} problems")
sys.exit(bool(problems))
