"""Plots of measurements by matplotlib. Figures are readable without colours: bars differ in hatches, lines in markers and dashes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Plots"]

Row = dict[str, Any]

# Proofmill's levels, from the fewest features to the most; peers follow by name.
LEVELS = ["portable", "adx", "avx2", "avx512", "avx512ifma", "neon", "sve", "sve2"]
# From light to dark, so that they differ in print; the hatches tell them apart where there are more.
FILLS = ["#ffffff", "#c6dbef", "#6baed6", "#2171b5", "#08306b"]
HATCHES = ["", "//", "--", "xx", "\\\\", "++"]
LINES = ["#08306b", "#2171b5", "#000000", "#4d4d4d", "#6baed6"]
MARKERS, DASHES = "os^Dv*PX", ["-", "--", "-.", ":"]
WIDTH, HEIGHT, BAR = 6.4, 4.0, 0.22


class Plots:
    """Plots of the rows that were measured. If a row was measured more than once, its last measurement counts.

    Each method returns the Axes. ``ax`` draws into one that exists; otherwise there is a new Figure, which pyplot does not know:
    ``ax.figure.savefig("plot.pdf")`` writes it, and as the last expression of a notebook's cell ``ax.figure`` shows it.
    No settings of matplotlib are changed.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = [row for row in rows if row["status"] == "measured" and row["median"]]

    def scaling(self, x: str = "size", ax: Axes | None = None) -> Axes:
        """Time of an iteration by ``size`` or by ``threads``, both logarithmic: a line for each benchmark, implementation, and number of
        threads or size. Raises ValueError if there is nothing to plot.
        """
        if x not in ("size", "threads"):
            raise ValueError(f"x: expected size or threads, found {x!r}")
        rows = last([row for row in self._rows if row[x]], ("family", "benchmark", "size", "implementation", "threads"))
        names = ("family", "benchmark", "implementation", "threads" if x == "size" else "size")
        series = grouped(sorted(rows, key=lambda row: (rank(row), row[x])), lambda row: tuple(row[name] for name in names))
        ax = axes(ax, len(rows), WIDTH, HEIGHT)
        title, labels = split(names, list(series))
        for place, (line, label) in enumerate(zip(series.values(), labels)):
            ax.plot([row[x] for row in line], [row["median"] for row in line], label=label, markersize=5, **stroke(place))
        ticker = importlib.import_module("matplotlib.ticker")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        values = sorted({row[x] for row in rows})
        if x == "threads" or len(values) <= 12:
            ax.xaxis.set_major_locator(ticker.FixedLocator(values))
            ax.xaxis.set_minor_locator(ticker.NullLocator())
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: power(round(value), "$2^{{{}}}$")))
        times = [row["median"] for row in rows]
        if max(times) < 100 * min(times):
            ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_minor_locator(ticker.NullLocator())
        # The labels have the unit, with its prefix.
        ax.yaxis.set_major_formatter(ticker.EngFormatter(unit="s"))
        units = {row["unit"] for row in rows if row["unit"]}
        ax.set_xlabel("threads" if x == "threads" else f"size ({units.pop()})" if len(units) == 1 else "size")
        ax.set_ylabel("time of an iteration")
        finish(ax, title, labels)
        return ax

    def levels(self, against: str | None = None, ax: Axes | None = None) -> Axes:
        """How many times faster each implementation is than ``against``, or than the slowest of its benchmark: a group of bars for each
        benchmark, size and number of threads. Raises ValueError if there is nothing to plot.
        """
        names = ("family", "benchmark", "size", "threads")
        groups = grouped(last(self._rows, (*names, "implementation")), lambda row: tuple(row[name] for name in names))
        bases = {
            key: max((row["median"] for row in rows if against in (None, row["implementation"])), default=None) for key, rows in groups.items()
        }
        groups = {key: sorted(rows, key=rank) for key, rows in groups.items() if bases[key] and len(rows) > 1}
        bars = sum(map(len, groups.values())) + len(groups)
        ax = axes(ax, bars, WIDTH, 1.2 + BAR * bars)
        found = {row["implementation"]: row for rows in groups.values() for row in rows}
        implementations = sorted(found, key=lambda name: rank(found[name]))
        title, labels = split(names, list(groups))
        place, middles, longest = 0, [], 0.0
        for key, rows in groups.items():
            middles.append(place + (len(rows) - 1) / 2)
            for row in rows:
                ratio = bases[key] / row["median"]
                longest = max(longest, ratio)
                bar = ax.barh(place, ratio, height=0.9, **fill(implementations.index(row["implementation"])))
                ax.bar_label(bar, [f"{ratio:.1f}" if ratio < 100 else f"{ratio:.0f}"], padding=2, fontsize="small")
                place += 1
            place += 1
        ax.set_yticks(middles, labels)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(place - 1.4, -0.6)
        ax.set_xlim(0, 1.1 * longest)
        ax.axvline(1, color="black", linewidth=0.8, linestyle=":")
        ax.set_xlabel(f"times faster than {against or 'the slowest'}")
        patch = importlib.import_module("matplotlib.patches").Patch
        finish(ax, title, implementations, handles=[patch(label=name, **fill(place)) for place, name in enumerate(implementations)])
        return ax

    def phases(self, ax: Axes | None = None) -> Axes:
        """Where the time of a proof goes: a bar for each row that has phases, divided into them. Raises ValueError if there is none."""
        names = ("family", "benchmark", "size", "implementation", "threads")
        rows = last([row for row in self._rows if row["phases"]], names)
        ax = axes(ax, len(rows), WIDTH, 1.4 + 2 * BAR * len(rows))
        title, labels = split(names, [tuple(row[name] for name in names) for row in rows])
        phases = list(dict.fromkeys(phase["name"] for row in rows for phase in row["phases"]))
        begins = [0.0] * len(rows)
        for place, name in enumerate(phases):
            lengths = [sum(phase["seconds"] for phase in row["phases"] if phase["name"] == name) for row in rows]
            ax.barh(range(len(rows)), lengths, left=begins, height=0.7, label=name, **fill(place))
            begins = [begin + length for begin, length in zip(begins, lengths)]
        ax.set_yticks(range(len(rows)), labels)
        ax.tick_params(axis="y", length=0)
        ax.invert_yaxis()
        ticker = importlib.import_module("matplotlib.ticker")
        # Few: their labels have units.
        ax.xaxis.set_major_locator(ticker.MaxNLocator(5))
        ax.xaxis.set_major_formatter(ticker.EngFormatter(unit="s"))
        ax.set_xlabel("time")
        finish(ax, title, phases)
        return ax


def axes(ax: Axes | None, count: int, width: float, height: float) -> Axes:
    """The Axes to draw into, if there is something to draw."""
    try:
        figure = importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'proofmill[plot]'", name="matplotlib") from None
    if not count:
        raise ValueError("nothing to plot: no rows were measured that have what this plot shows")
    if ax is not None:
        return ax
    made: Axes = figure.Figure(figsize=(width, height), layout="constrained").subplots()
    return made


def finish(ax: Axes, title: str, labels: Sequence[str], handles: Any = None) -> None:
    ax.set_title(title, fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    if any(labels):
        named = {} if handles is None else {"handles": handles}
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small", **named)


def stroke(place: int) -> dict[str, Any]:
    return {
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place % len(DASHES)],
        "color": LINES[place % len(LINES)],
    }


def fill(place: int) -> dict[str, Any]:
    color, hatch = FILLS[place % len(FILLS)], HATCHES[place % len(HATCHES)]
    # Hatches have the edge's colour: white ones on dark bars.
    edge = "white" if place % len(FILLS) > 2 and hatch else "black"
    return {"facecolor": color, "hatch": hatch, "edgecolor": edge, "linewidth": 0.6}


def grouped(rows: Sequence[Row], key: Callable[[Row], Hashable]) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def last(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Of rows with the same name, the last."""
    return list({tuple(row[name] for name in names): row for row in rows}.values())


def rank(row: Row) -> tuple[int, str]:
    name = row["implementation"]
    return (LEVELS.index(name) if name in LEVELS else len(LEVELS), name)


def power(value: int, text: str = "2^{}") -> str:
    """A size as the bench writes it: powers of two from 2^10 on as such."""
    return text.format(value.bit_length() - 1) if value >= 1024 and value & (value - 1) == 0 else str(value)


def split(names: Sequence[str], keys: Sequence[tuple[Any, ...]]) -> tuple[str, list[str]]:
    """A title of what all have in common, and a label for each of what is its own."""
    common = {name for place, name in enumerate(names) if len({key[place] for key in keys}) == 1}
    title = described({name: keys[0][place] for place, name in enumerate(names) if name in common}) if keys else ""
    return title, [described({name: key[place] for place, name in enumerate(names) if name not in common}) for key in keys]


def described(parts: Row) -> str:
    words = ["/".join(str(parts[name]) for name in ("family", "benchmark") if parts.get(name))]
    if parts.get("size"):
        words.append(power(parts["size"]))
    words.append(parts.get("implementation") or "")
    if threads := parts.get("threads"):
        words.append("1 thread" if threads == 1 else f"{threads} threads")
    return ", ".join(word for word in words if word)
