"""Progress lines as a self-contained SVG drawing."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from handrail.network.lines import Lines, cell_text

CHAR = 6.6
ROW = 46
CELL_PAD = 10
ARROW_MIN = 60
LEFT = 12


def svg(lines: Lines, tools: bool = False, marks: Mapping[int, str] | None = None) -> str:
    """Draw the rows.

    Args:
        lines: the rows.
        tools: also draw rows of tools and containers.
        marks: row number -> reason why it looks wrong; such rows are drawn in red with the reason as a tooltip.

    Returns:
        An SVG document without scripts or outside references. Every cell carries `data-line`, `data-cell` and
        `data-unit`, so that an editor can tell what was clicked.
    """
    marks = marks or {}
    rows = lines.shown(tools)
    name_width = max((len(line.name) for _, line in rows), default=0) * CHAR + 24
    parts: list[str] = []
    width = 0.0
    for index, (number, line) in enumerate(rows):
        y = 30 + index * ROW
        colour = "#b3261e" if number in marks else "#1b5e20" if line.end_product is None and line.arrows else "#222"
        tip = f"<title>{escape(marks[number])}</title>" if number in marks else ""
        parts.append(f'<g data-line="{number}" fill="{colour}">{tip}')
        parts.append(f'<text x="{LEFT}" y="{y + 4}" font-weight="bold">{escape(line.name)}</text>')
        x = LEFT + name_width
        for k, cell in enumerate(line.cells):
            label = cell_text(cell.node)
            w = len(label) * CHAR + 2 * CELL_PAD
            parts.append(
                f'<g data-line="{number}" data-cell="{k}" data-unit="{cell.unit}">'
                f'<rect x="{x:.0f}" y="{y - 14}" width="{w:.0f}" height="26" rx="6" fill="#fff" stroke="{colour}"/>'
                f'<text x="{x + CELL_PAD:.0f}" y="{y + 4}">{escape(label)}</text></g>'
            )
            x += w
            if k < len(line.arrows):
                unit = line.arrows[k].unit
                motion = lines.units[unit].motion
                w = max(ARROW_MIN, len(motion) * CHAR + 20)
                parts.append(
                    f'<g data-line="{number}" data-arrow="{k}" data-unit="{unit}">'
                    f'<line x1="{x + 2:.0f}" y1="{y}" x2="{x + w - 4:.0f}" y2="{y}" stroke="{colour}" '
                    f'marker-end="url(#tip)"/><text x="{x + w / 2:.0f}" y="{y - 6}" text-anchor="middle" '
                    f'font-style="italic">{escape(motion)}</text></g>'
                )
                x += w
        if line.end_product:
            parts.append(f'<text x="{x + 4:.0f}" y="{y + 4}" font-weight="bold">{escape(line.end_product)}</text>')
            x += len(line.end_product) * CHAR + 12
        parts.append("</g>")
        width = max(width, x)
    height = 30 + len(rows) * ROW
    title = escape(lines.name or "progress lines")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + 20:.0f}" height="{height}" '
        f'viewBox="0 0 {width + 20:.0f} {height}" font-family="sans-serif" font-size="12" role="img">'
        f"<title>{title}</title>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>' + "".join(parts) + "</svg>\n"
    )
