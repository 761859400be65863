"""Rows as a table for people, or as TSV or JSON for programs."""

import json
import sys


def write(title, rows, style, out=sys.stdout):
    """Writes rows, dictionaries with the same keys. `style`: `table`, `tsv` or `json` (one object per row)."""
    if style == "json":
        for row in rows:
            print(json.dumps({"table": title, **row}, ensure_ascii=False), file=out)
        return
    columns = list(rows[0]) if rows else []
    cells = [columns] + [[_text(row.get(column)) for column in columns] for row in rows]
    if style == "tsv":
        for line in cells:
            print("\t".join([title, *line]), file=out)
        return
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    print(f"\n{title}", file=out)
    for line in cells:
        print("  ".join(cell.ljust(width) if not _number(cell) else cell.rjust(width) for cell, width in zip(line, widths)).rstrip(), file=out)


def _number(cell):
    return cell.replace(".", "", 1).replace("%", "", 1).replace(",", "").lstrip("-").isdigit()


def _text(value):
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else str(value)
