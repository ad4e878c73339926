#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""A page from the figures of `octavo bench --json`: rooflines, bars, a table of every layer.

    python bench/report.py figures.json [more.json ...] -o page.html

The page is one file that needs no network: plotly.js is inside. It follows the reader's light or dark setting.
"""

import argparse
import collections
import html
import json
import math
import pathlib
import re
import sys

import plotly.graph_objects as go
import plotly.offline

# One colour a library, the same in every chart; light and dark variants have the same hue.
COLOURS = {"octavo": ("#2a78d6", "#4f97ea"), "onednn": ("#d9622b", "#e5793f"), "torch": ("#168f63", "#27ad7c")}
SYMBOLS = {"octavo": "circle", "onednn": "diamond-open", "torch": "square-open"}
NAMES = {"octavo": "Octavo", "onednn": "oneDNN", "torch": "PyTorch"}


def section_of(row):
    """The rows that share a chart: one direction, one input type, one layout, one thread count."""
    problem = row["problem"]
    direction = problem.split()[0]
    tensor = "y" if direction == "dgrad" else "x"
    kind = re.search(rf"\b{tensor}=([a-z0-9]+):(\S+)", problem)
    threads = row["threads"]
    return f"{direction}, {kind.group(1)}, {row['isa']}, {threads} thread{'s' if threads != 1 else ''}"


def geomean(values):
    values = [v for v in values if v and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def libraries(rows):
    peers = sorted({name for row in rows for name, peer in row.get("peers", {}).items() if "median_us" in peer})
    return ["octavo", *peers]


def gops(row, library):
    if "error" in row:
        return None
    if library == "octavo":
        return row["gops"]
    peer = row["peers"].get(library, {})
    return row["operations"] / peer["median_us"] * 1e-3 if peer.get("median_us") else None


def hover(row, library):
    value = gops(row, library)
    time = row["median_us"] if library == "octavo" else row["peers"][library]["median_us"]
    right = row["right"] if library == "octavo" else row["peers"][library]["right"]
    who = f"{row['engine']} {row['config']}" if library == "octavo" else row["peers"][library].get("implementation", "")
    return (
        f"{html.escape(row['set'])} / {html.escape(row['name'])}<br>{NAMES.get(library, library)}: {time:,.1f} µs, "
        f"{value:,.0f} Gop/s<br>{html.escape(who)}<br>{'right' if right else 'WRONG'}"
    )


def axis(title, **more):
    return dict(title=dict(text=title), zeroline=False, **more)


def roofline(rows):
    figure = go.Figure()
    intensities = [row["operations"] / row["bytes"] for row in rows]
    low, high = min(intensities) / 2, max(intensities) * 2
    ceiling, bandwidth = rows[0]["ceiling"]["gops"], rows[0]["read_gbs"]
    knee = ceiling / bandwidth
    xs = [low, *([knee] if low < knee < high else []), high]
    figure.add_scatter(
        x=xs,
        y=[min(ceiling, bandwidth * x) for x in xs],
        mode="lines",
        line=dict(dash="dash", width=1.5),
        name=f"roof: {rows[0]['ceiling']['loop']} {ceiling:,.0f} Gop/s, memory {bandwidth:.0f} GB/s",
        hoverinfo="skip",
        meta="roof",
    )
    for library in libraries(rows):
        kept = [row for row in rows if gops(row, library)]
        figure.add_scatter(
            x=[row["operations"] / row["bytes"] for row in kept],
            y=[gops(row, library) for row in kept],
            mode="markers",
            marker=dict(size=9, symbol=SYMBOLS.get(library, "x"), line=dict(width=1.5)),
            name=NAMES.get(library, library),
            text=[hover(row, library) for row in kept],
            hovertemplate="%{text}<extra></extra>",
            meta=library,
        )
    figure.update_layout(
        xaxis=axis("operations per byte moved", type="log", dtick="D2"),
        yaxis=axis("Gop/s", type="log", dtick="D2"),
        height=460,
        margin=dict(l=70, r=20, t=10, b=60),
        legend=dict(orientation="h", y=1.02, yanchor="bottom", x=0),
    )
    return figure


def bars(rows):
    figure = go.Figure()
    # Set and layer make the label, so that equal names of two sets stay two bars; the first layer is on top.
    labels = [f"{row['set']} {row['name']}" for row in rows]
    shown = libraries(rows)
    for library in shown:
        figure.add_bar(
            y=labels,
            x=[gops(row, library) for row in rows],
            orientation="h",
            name=NAMES.get(library, library),
            text=["" if gops(row, library) is None else hover(row, library) for row in rows],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
            meta=library,
        )
    figure.add_vline(x=rows[0]["ceiling"]["gops"], line=dict(dash="dash", width=1.5))
    figure.update_layout(
        barmode="group",
        bargap=0.3,
        xaxis=axis("Gop/s (dashed: the ceiling of this machine, measured in the same run)", rangemode="tozero"),
        yaxis=dict(autorange="reversed", automargin=True, tickfont=dict(size=11), zeroline=False),
        height=90 + len(rows) * (14 + 11 * len(shown)),
        margin=dict(l=10, r=20, t=30, b=50),
        legend=dict(orientation="h", y=1.0, yanchor="bottom", x=0),
    )
    return figure


def number(value, digits=2):
    return "–" if value is None else f"{value:,.{digits}f}"


def summary_table(rows):
    peers = libraries(rows)[1:]
    head = "".join(f"<th>{NAMES.get(p, p)} time / ours, geomean</th><th>worst layer</th><th>{NAMES.get(p, p)} wrong in</th>" for p in peers)
    sets = collections.OrderedDict((row["set"], None) for row in rows)
    body = ""
    for name in [*sets, *(["all"] if len(sets) > 1 else [])]:
        group = [row for row in rows if name in (row["set"], "all")]
        right = sum(bool(row["right"]) for row in group)
        share = geomean([row.get("share") for row in group])
        cells = f"<td>{html.escape(name)}</td><td>{right} of {len(group)}</td><td>{number(share and share * 100, 0)} %</td>"
        for peer in peers:
            ratios = [(r["peers"][peer]["ratio"], r["name"]) for r in group if r.get("peers", {}).get(peer, {}).get("ratio")]
            wrong = sum(not r["peers"][peer]["right"] for r in group if "median_us" in r.get("peers", {}).get(peer, {}))
            worst = min(ratios, default=None)
            worst_text = f"{worst[0]:.2f} ({html.escape(worst[1])})" if worst else "–"
            cells += f"<td>{number(geomean([r for r, _ in ratios]))}</td><td>{worst_text}</td><td>{wrong}</td>"
        body += f"<tr>{cells}</tr>"
    return f"<table><thead><tr><th>set</th><th>ours right</th><th>share of the ceiling, geomean</th>{head}</tr></thead><tbody>{body}</tbody></table>"


def layer_table(rows):
    peers = libraries(rows)[1:]
    head = "".join(f"<th>{NAMES.get(p, p)} µs</th><th>ratio</th>" for p in peers)
    body = ""
    for row in rows:
        label = f"<td>{html.escape(row['set'])}</td><td title='{html.escape(row['problem'], quote=True)}'>{html.escape(row['name'])}</td>"
        if "error" in row:
            body += f"<tr>{label}<td class=bad colspan={5 + 2 * len(peers)}>{html.escape(row['error'])}</td></tr>"
            continue
        right = "right" if row["right"] else f"<span class=bad>{html.escape(row.get('wrong', 'wrong'))}</span>"
        quiet = "" if row["clean"] >= 3 else "<span title='no quiet moment: every iteration is counted'> *</span>"
        body += f"<tr>{label}<td>{html.escape(row['engine'])} {html.escape(row['config'])}</td><td>{right}</td>"
        body += f"<td>{number(row['median_us'], 1)}{quiet}</td><td>{number(row['gops'], 0)}</td><td>{number(row['share'] * 100, 0)} %</td>"
        for name in peers:
            peer = row["peers"].get(name, {})
            if "median_us" not in peer:
                body += f"<td colspan=2 title='{html.escape(peer.get('missing', ''), quote=True)}'>–</td>"
                continue
            wrong = "" if peer["right"] else "<span class=bad> wrong</span>"
            body += f"<td>{number(peer['median_us'], 1)}{wrong}</td><td>{number(peer['ratio'])}</td>"
        body += "</tr>"
    return (
        "<details><summary>Every layer</summary><div class=scroll><table><thead><tr><th>set</th><th>layer</th><th>plan</th><th>result</th>"
        f"<th>median µs</th><th>Gop/s</th><th>share</th>{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Octavo benchmark</title>
<style>
:root {{ --surface: #ffffff; --ink: #1b1f24; --quiet: #59636e; --line: #d8dee4; --bad: #c02626; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --surface: #14171b; --ink: #e8ecf0; --quiet: #9aa5b1; --line: #343b44; --bad: #ff7b72; }}
}}
body {{ background: var(--surface); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; margin-bottom: .2rem; }}
h2 {{ font-size: 1.2rem; margin-top: 2.5rem; }}
h3 {{ font-size: 1rem; margin: 1.5rem 0 .3rem; }}
p.quiet, code {{ color: var(--quiet); font-size: .9rem; }}
code {{ overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }}
th {{ color: var(--quiet); font-weight: 600; }}
.bad {{ color: var(--bad); font-weight: 600; }}
.scroll {{ overflow-x: auto; }}
summary {{ cursor: pointer; margin: 1rem 0; }}
</style>
<script>{plotly}</script>
</head>
<body>
<h1>Octavo benchmark</h1>
<p class="quiet">{machine}<br>{date}; ours and the others called in turn in one process; medians over quiet iterations; a result counts as right
when it equals the oracle's (integers: to the bit).</p>
{commands}
{sections}
<script>
const colours = {colours};
const dark = window.matchMedia('(prefers-color-scheme: dark)');
function theme() {{
  const root = document.documentElement, style = getComputedStyle(root), get = name => style.getPropertyValue(name).trim();
  const ink = get('--ink'), line = get('--line'), surface = get('--surface'), quiet = get('--quiet');
  const which = dark.matches ? 1 : 0;
  return {{which, ink, line, surface, quiet}};
}}
function paint(layout, data, t) {{
  layout.paper_bgcolor = layout.plot_bgcolor = t.surface;
  layout.font = {{color: t.ink, family: 'system-ui, sans-serif', size: 13}};
  layout.hoverlabel = {{bgcolor: t.surface, bordercolor: t.line, font: {{color: t.ink}}}};
  for (const name of ['xaxis', 'yaxis']) Object.assign(layout[name], {{gridcolor: t.line, linecolor: t.line}});
  for (const shape of layout.shapes || []) shape.line.color = t.quiet;
  for (const trace of data) {{
    const colour = trace.meta === 'roof' ? t.quiet : (colours[trace.meta] || [t.ink, t.ink])[t.which];
    if (trace.line) trace.line.color = colour;
    trace.marker = Object.assign(trace.marker || {{}}, {{color: colour}});
    if (trace.marker.line) trace.marker.line.color = colour;
  }}
}}
function draw() {{
  const t = theme(), plots = document.querySelectorAll('.plot');
  const waiting = [...plots].map(div => {{
    const figure = JSON.parse(div.nextElementSibling.textContent);
    paint(figure.layout, figure.data, t);
    return Plotly.react(div, figure.data, figure.layout, {{responsive: true, displaylogo: false}});
  }});
  Promise.all(waiting).then(() => {{
    document.documentElement.dataset.theme = t.which ? 'dark' : 'light';
    document.documentElement.dataset.plots = plots.length;
  }});
}}
window.addEventListener('error', event => document.documentElement.dataset.error = event.message);
dark.addEventListener('change', draw);
draw();
</script>
</body>
</html>
"""


def plot(figure):
    figure.update_layout(template="none")
    text = figure.to_json().replace("</", "<\\/")
    return f'<div class="plot"></div><script type="application/json">{text}</script>'


def page(rows):
    sections = collections.OrderedDict()
    for row in rows:
        sections.setdefault(section_of(row), []).append(row)
    body = ""
    for title, group in sections.items():
        ran = [row for row in group if "error" not in row]
        body += f"<h2>{html.escape(title)}</h2><div class=scroll>{summary_table(group)}</div>"
        if ran:
            body += f"<h3>Roofline</h3>{plot(roofline(ran))}<h3>Layers</h3>{plot(bars(ran))}"
        body += layer_table(group)
    commands = "".join(f"<p><code>{html.escape(c)}</code></p>" for c in dict.fromkeys(row["command"] for row in rows))
    return PAGE.format(
        plotly=plotly.offline.get_plotlyjs(),
        machine=html.escape("; ".join(dict.fromkeys(row["machine"] for row in rows))),
        date=html.escape(", ".join(dict.fromkeys(row["date"] for row in rows))),
        commands=commands,
        sections=body,
        colours=json.dumps(COLOURS),
    )


def main():
    parser = argparse.ArgumentParser(description="A page from the figures of `octavo bench --json`.")
    parser.add_argument("figures", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    rows = []
    for path in arguments.figures:
        rows += json.loads(path.read_text())
    if not rows:
        sys.exit("report.py: the files hold no figures.")
    arguments.output.write_text(page(rows))
    print(f"page written to {arguments.output.resolve()}")


if __name__ == "__main__":
    main()
