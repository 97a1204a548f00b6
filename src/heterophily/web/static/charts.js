// Drawings as SVG. Each has a role, a description, and values that show on hover.

import { percent, s } from "./dom.js";

const clamp = (value) => Math.min(Math.max(value, 0), 1);

function frame({ width, height, left = 44, bottom = 40, top = 10, right = 14 }) {
  const inner = { width: width - left - right, height: height - top - bottom };
  return {
    left, top, width, height, inner,
    x: (share) => left + share * inner.width,
    y: (share) => top + (1 - share) * inner.height,
  };
}

function axes(box, { across, up, format = (value) => value }) {
  const parts = [];
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    parts.push(s("line", { class: "axis", x1: box.left, x2: box.x(1), y1: box.y(share), y2: box.y(share) }));
    parts.push(s("text", { x: box.left - 8, y: box.y(share) + 4, "text-anchor": "end" }, format(share)));
    parts.push(s("text", { x: box.x(share), y: box.y(0) + 18, "text-anchor": "middle" }, share));
  }
  parts.push(s("text", { x: box.x(0.5), y: box.y(0) + 36, "text-anchor": "middle" }, across));
  if (up) parts.push(s("text", { x: 12, y: box.y(0.5), "text-anchor": "middle", transform: `rotate(-90 12 ${box.y(0.5)})` }, up));
  return parts;
}

const MARKERS = {
  "mlp-2": (x, y, tip) => s("rect", { x: x - 4, y: y - 4, width: 8, height: 8, transform: `rotate(45 ${x} ${y})` }, tip),
  gcn: (x, y, tip) => s("circle", { cx: x, cy: y, r: 4.5 }, tip),
  "acm-gcn": (x, y, tip) => s("rect", { x: x - 4.2, y: y - 4.2, width: 8.4, height: 8.4 }, tip),
};

// Accuracy against homophily: one line per model through its points, sorted by x.
// `series` maps a model to points {x, mean, std}.
export function lineChart(series, { across, now, width }) {
  const box = frame({ width, height: Math.max(260, width / 2), left: 52 });
  const parts = axes(box, { across, up: "test accuracy, %", format: (share) => 100 * share });
  if (now !== null && now !== undefined) {
    parts.push(s("line", { class: "now", x1: box.x(clamp(now)), x2: box.x(clamp(now)), y1: box.y(0), y2: box.y(1) }));
  }
  for (const [model, points] of Object.entries(series)) {
    const sorted = [...points].sort((one, other) => one.x - other.x);
    const path = sorted.map((point, at) => `${at ? "L" : "M"}${box.x(clamp(point.x))},${box.y(point.mean)}`).join("");
    parts.push(s("g", { class: `series ${model}` },
      s("path", { d: path }),
      sorted.map((point) => {
        const x = box.x(clamp(point.x));
        const tip = s("title", {}, `${model}: ${percent(point.mean)} ± ${percent(point.std)} % at ${point.x.toFixed(2)}`);
        return [
          s("line", { x1: x, x2: x, y1: box.y(clamp(point.mean - point.std)), y2: box.y(clamp(point.mean + point.std)) }),
          MARKERS[model](x, box.y(point.mean), tip),
        ];
      })));
  }
  return s("svg", { viewBox: `0 0 ${box.width} ${box.height}`, width: box.width, role: "img", "aria-label": `test accuracy of the models against ${across}` }, parts);
}

// Where a graph stands among known datasets: edge homophily across, H_agg^M up.
export function standing(known, own, name) {
  const box = frame({ width: 440, height: 330, right: 76, left: 52 });
  const points = Object.entries(known).filter(([dataset]) => dataset !== name)
    .map(([dataset, values]) => [dataset, values.edge_homophily, values.modified_aggregation_homophily, false]);
  const [x, y] = [own.edge_homophily, own.modified_aggregation_homophily];
  if (x === null || y === null) return null;
  points.push([name.length > 22 ? `${name.slice(0, 21)}…` : name, x, y, true]);
  const taken = points.map(([, across, up]) => [box.x(clamp(across)) - 7, box.x(clamp(across)) + 7, box.y(clamp(up)) + 4]);
  const drawn = points.reverse().map(([label, across, up, isOwn]) => {
    const left = box.x(clamp(across)), top = box.y(clamp(up)), width = 6.4 * label.length;
    const spots = [[left + 9, top + 4], [left - 9 - width, top + 4], [left - width / 2, top + 18], [left - width / 2, top - 10]];
    const free = spots.find(([start, base]) => start > box.left && base > 8 &&
      taken.every(([begin, end, line]) => start > end || start + width < begin || Math.abs(base - line) > 12)) ?? spots[0];
    taken.push([free[0], free[0] + width, free[1]]);
    return s("g", {},
      s("circle", { class: isOwn ? "mark" : "grey", cx: left, cy: top, r: isOwn ? 7 : 4 },
        s("title", {}, `${label}: ${across.toFixed(3)}, ${up.toFixed(3)}`)),
      s("text", { x: free[0], y: free[1], class: isOwn ? "you" : "" }, label));
  });
  return s("svg", { viewBox: `0 0 ${box.width} ${box.height}`, width: box.width, role: "img",
    "aria-label": `edge homophily ${x.toFixed(2)} and modified aggregation homophily ${y.toFixed(2)}, among the datasets of the paper` },
  axes(box, { across: "edge homophily", up: "H_agg^M" }), drawn);
}

// A value on a line from 0 to 1, others as ticks.
export function strip(value, others = {}, deviation = 0) {
  const x = (share) => 5 + 290 * clamp(share);
  const parts = [s("line", { class: "axis", x1: 5, x2: 295, y1: 9, y2: 9 })];
  for (const [name, other] of Object.entries(others)) {
    parts.push(s("line", { class: "tick", x1: x(other), x2: x(other), y1: 3, y2: 15 }, s("title", {}, `${name}: ${other.toFixed(3)}`)));
  }
  if (value !== null && value !== undefined) {
    parts.push(s("line", { class: "mark", "stroke-width": 3, x1: x(value - deviation), x2: x(value + deviation), y1: 9, y2: 9 }));
    parts.push(s("circle", { class: "mark", cx: x(value), cy: 9, r: 4.5 }, s("title", {}, value.toFixed(3))));
  }
  return s("svg", { viewBox: "0 0 300 18", width: 300, height: 18, "aria-hidden": "true" }, parts);
}

// How many nodes have which share of alike neighbours.
export function histogram(counts) {
  const box = frame({ width: 440, height: 240, left: 52 });
  const most = Math.max(...counts, 1);
  const bars = counts.map((count, at) => s("rect", {
    class: "mark", x: box.x(at / 10) + 2, width: box.inner.width / 10 - 4, rx: 2,
    y: box.y(count / most), height: (count / most) * box.inner.height,
  }, s("title", {}, `${at / 10} to ${(at + 1) / 10}: ${count.toLocaleString("en")} nodes`)));
  const ticks = [0, 0.5, 1].map((share) => s("text", { x: box.x(share), y: box.y(0) + 18, "text-anchor": "middle" }, share));
  return s("svg", { viewBox: `0 0 ${box.width} ${box.height}`, width: box.width, role: "img",
    "aria-label": `number of nodes by the share of their neighbours that are of their class, in ten steps: ${counts.join(", ")}` },
  s("line", { class: "axis", x1: box.left, x2: box.x(1), y1: box.y(0), y2: box.y(0) }), bars, ticks,
  s("text", { x: box.left - 8, y: box.y(1) + 8, "text-anchor": "end" }, most.toLocaleString("en")),
  s("text", { x: box.x(0.5), y: box.y(0) + 36, "text-anchor": "middle" }, "share of neighbours of the own class"));
}

// Which classes the neighbours of each class have; rows add up to 1.
export function heatMap({ classes, rows }) {
  const side = Math.min(46, 300 / classes.length), left = 96, top = 22;
  const short = (name) => (name.length > 12 ? `${name.slice(0, 11)}…` : name);
  const cells = rows.map((row, down) => row.map((share, across) => s("g", {},
    s("rect", { class: "mark", "fill-opacity": 0.06 + 0.9 * share, "stroke-width": 0, x: left + across * side + 1, y: top + down * side + 1,
      width: side - 2, height: side - 2, rx: 4 }, s("title", {}, `${classes[down]} → ${classes[across]}: ${percent(share)} %`)),
    side > 28 && s("text", { x: left + (across + 0.5) * side, y: top + (down + 0.5) * side + 4, "text-anchor": "middle",
      style: { fill: share > 0.5 ? "var(--on-accent)" : "var(--ink)", pointerEvents: "none", stroke: "none" } }, Math.round(100 * share)))));
  const names = classes.map((name, at) => [
    s("text", { x: left - 8, y: top + (at + 0.5) * side + 4, "text-anchor": "end" }, short(name), s("title", {}, name)),
    side > 28 && (classes.length <= 8 || name.length < 4) && s("text", { x: left + (at + 0.5) * side, y: top - 8, "text-anchor": "middle" }, name.slice(0, 5), s("title", {}, name)),
  ]);
  const size = classes.length * side;
  return s("svg", { viewBox: `0 0 ${left + size + 8} ${top + size + 8}`, width: left + size + 8, role: "img",
    "aria-label": `percent of the edges of each class that lead to each class, ${classes.length} classes` }, cells, names);
}

// The runs of a model as dots on a line, between the lowest and highest of all models.
export function dotPlot(values, [low, high]) {
  const x = (value) => 6 + (168 * (value - low)) / Math.max(high - low, 1e-9);
  const dots = values.map((value) => s("circle", { class: "mark", "fill-opacity": 0.45, "stroke-width": 0, cx: x(value), cy: 10, r: 4.5 },
    s("title", {}, `${percent(value, 2)} %`)));
  const centre = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
  return s("svg", { viewBox: "0 0 180 20", width: 180, height: 20, "aria-hidden": "true" },
    s("line", { class: "axis", x1: 6, x2: 174, y1: 10, y2: 10 }), dots,
    centre !== null && s("line", { class: "mark", "stroke-width": 2, x1: x(centre), x2: x(centre), y1: 2, y2: 18 }));
}
