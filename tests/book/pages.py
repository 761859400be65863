"""The documentation as a book: mdbook builds it, and every link of its pages leads somewhere."""

import html.parser
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

MDBOOK = "0.5.4"
BOOK = Path("target/book")


class Page(html.parser.HTMLParser):
    def __init__(self, path: Path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids.update(value for key in ("id", "name") if (value := attributes.get(key)))
        self.links += [value for key in ("href", "src") if (value := attributes.get(key))]


def output_of(*words: str) -> tuple[int, str]:
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def build() -> Iterator[str]:
    """Builds the book; installs mdbook if it is missing. Yields problems."""
    version = output_of("mdbook", "--version")[1] if shutil.which("mdbook") else ""
    if version.strip() != f"mdbook v{MDBOOK}":
        features = ["--no-default-features", "--features", "search"]
        subprocess.run(["cargo", "install", "mdbook", "--version", MDBOOK, "--locked", "--quiet", *features], check=True)
    shutil.rmtree(BOOK, ignore_errors=True)
    code, output = output_of("mdbook", "build", "docs")
    if code or "WARN" in output or "ERROR" in output:
        yield f"mdbook: {output}"


def links() -> Iterator[str]:
    """Yields links that lead nowhere."""
    # The left-out ones duplicate the pages: 404.html with links from the root of a site, print.html without them.
    paths = [path for path in BOOK.rglob("*.html") if path.name not in ("404.html", "print.html", "toc.html")]
    pages = {str(path): Page(path) for path in paths}
    count = 0
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link) or link.endswith("print.html"):
                continue
            count += 1
            file, _, anchor = unquote(link).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(target):
                yield f"{path}: {link}: no such file"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{path}: {link}: no such anchor"
    print(f"{count} links in {len(pages)} pages")
