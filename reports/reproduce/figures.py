"""The figures of the reports, drawn from the rows of their tables: each function returns one that draws, given the look
of figures (tools/stagewise/theme.py), its theme, and what is Shown."""

import re

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "%": 1.0, "": 1.0}


def value_of(cell):
    """Of "1,024", "4.5x", "12.3 ms" or "5.1 %"; None for an empty cell."""
    found = re.fullmatch(r"([\d.]+(?:e[+-]?\d+)?)x? ?(us|ms|s|%|)", str(cell).replace(",", ""))
    return float(found[1]) * UNITS[found[2]] if found else None


def lines(columns, x_label, y_label, rows=slice(None), log=True, marker="o"):
    """A line for each of the columns, over the first one."""
    def draw(look, theme, shown):
        figure = look.new_figure(theme, 8, 4.5)
        axes = figure.subplots()
        chosen = shown.rows[rows]
        for column, color in zip(columns, theme.series):
            points = [(value_of(row[0]), value_of(row[column])) for row in chosen]
            points = [point for point in points if None not in point]
            if points:
                axes.plot(*zip(*points), marker=marker, markersize=4, linewidth=1.5, color=color,
                          label=shown.head[column])
        if log:
            axes.set(xscale="log", yscale="log")
            axes.set_xticks([value_of(row[0]) for row in chosen], [str(row[0]) for row in chosen])
            axes.minorticks_off()
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.legend()
        return figure
    return draw


def bars(columns, label, log=True):
    """A bar for each row and column, theirs and ours."""
    def draw(look, theme, shown):
        figure = look.new_figure(theme, 8, 0.42 * len(shown.rows) + 1.2)
        axes = figure.subplots()
        height = 0.8 / len(columns)
        for place, (column, color) in enumerate(zip(columns, theme.series)):
            values = [value_of(row[column]) for row in shown.rows]
            present = [(row, value) for row, value in enumerate(values) if value]
            axes.barh([row + (place - (len(columns) - 1) / 2) * height for row, _ in present],
                      [value for _, value in present], height, color=color, label=shown.head[column])
        axes.set_yticks(range(len(shown.rows)), [str(row[0]).replace("`", "") for row in shown.rows])
        axes.invert_yaxis()
        axes.set(xlabel=label, **({"xscale": "log"} if log else {}))
        axes.legend()
        return figure
    return draw
