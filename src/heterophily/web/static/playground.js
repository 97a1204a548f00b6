// The playground: move a slider, see the graph, its metrics, and what three models make of it.

import { follow, getKnown, post } from "./api.js";
import { lineChart } from "./charts.js";
import { announce, bar, errorBox, h, percent, replace, words } from "./dom.js";
import { Network } from "./network.js";

const SLIDERS = [
  { name: "homophily", label: "Edge homophily", min: 0, max: 1, step: 0.05, value: 0.2, show: (value) => value.toFixed(2) },
  { name: "classes", label: "Classes", min: 2, max: 8, step: 1, value: 3 },
  { name: "degree", label: "Mean degree", min: 1, max: 20, step: 1, value: 6 },
  { name: "noise", label: "Feature noise", min: 0.2, max: 4, step: 0.1, value: 1.2, show: (value) => value.toFixed(1) },
  { name: "nodes", label: "Nodes", min: 60, max: 600, step: 20, value: 240 },
];
const MODELS = {
  "mlp-2": ["MLP-2", "sees a node's own features"],
  gcn: ["GCN", "averages over neighbours"],
  "acm-gcn": ["ACM-GCN", "mixes both"],
};
const AXES = { edge_homophily: "edge homophily", modified_aggregation_homophily: "H_agg^M" };
const SWEEP = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const DRAW_AFTER = 40, TRAIN_AFTER = 500; // milliseconds of rest

const settings = Object.fromEntries(SLIDERS.map(({ name, value }) => [name, value]));
const collected = new Map(); // points by all settings but homophily: they stay when the view is left

const group = () => JSON.stringify({ ...settings, homophily: undefined });
function points() {
  if (!collected.has(group())) collected.set(group(), Object.fromEntries(Object.keys(MODELS).map((model) => [model, []])));
  return collected.get(group());
}

export async function playground(page) {
  const known = await getKnown();
  const canvas = h("canvas", { role: "img", "aria-label": "the synthetic graph, nodes coloured by class" });
  const caption = h("p", { class: "dim small" });
  const metricList = h("div", { class: "list" });
  const accuracyList = h("div", {});
  const status = h("p", { class: "dim small", role: "status" });
  const insight = h("p", { class: "insight", hidden: true });
  const chart = h("div", {});
  const problem = h("div", {});
  const axis = h("select", { onchange: drawChart }, Object.entries(AXES).map(([value, text]) => h("option", { value }, text)));
  const sweep = h("button", { type: "button", onclick: () => train(SWEEP) }, "Sweep 0 → 1");
  const network = new Network(canvas);
  let drawing = null, drawTimer = 0, trainTimer = 0, job = null, unfollow = null, metrics = {}, latest = {}, turn = 0;

  replace(page,
    h("h1", {}, "When do unlike neighbours do harm?"),
    h("p", { class: "lead" }, "A graph network averages over neighbours. Move the homophily slider: the average helps when neighbours are alike, does harm when they are mixed, and helps again when they are reliably different. Mixing channels (ACM-GCN) avoids the harm."),
    h("div", { class: "grid play" },
      h("section", { class: "card", "aria-label": "Settings" }, h("h2", {}, "The graph"), SLIDERS.map(slider), problem),
      h("section", { class: "card picture", "aria-label": "Graph" }, h("div", { class: "stage" }, canvas), caption),
      h("section", { class: "card metrics", "aria-label": "Metrics" }, h("h2", {}, "Metrics"), metricList)),
    h("div", { class: "grid learn" },
      h("section", { class: "card", "aria-label": "Accuracies" }, h("h2", {}, "How accurate models are"), accuracyList, status, insight),
      h("section", { class: "card", "aria-label": "Accuracy against homophily" },
        h("div", { class: "row between" },
          h("h2", {}, "Accuracy against homophily"),
          h("div", { class: "row" }, h("label", { class: "row dim small" }, "across", axis), sweep,
            h("button", { type: "button", class: "quiet", onclick: clear }, "Clear"))),
        h("div", { class: "scroll" }, chart),
        h("div", { class: "legend" }, Object.entries(MODELS).map(([model, [name]]) => h("b", { class: model }, { "mlp-2": "◆ ", gcn: "● ", "acm-gcn": "■ " }[model], name))))));
  redraw();
  train([settings.homophily]);
  addEventListener("resize", drawChart);
  return () => { removeEventListener("resize", drawChart); network.close(); unfollow?.(); stopTraining(); clearTimeout(drawTimer); clearTimeout(trainTimer); };

  function slider({ name, label, min, max, step, show = String }) {
    const output = h("output", { for: `slider-${name}` }, show(settings[name]));
    const input = h("input", { type: "range", id: `slider-${name}`, min, max, step, oninput: () => {
      settings[name] = Number(input.value);
      output.textContent = show(settings[name]);
      clearTimeout(drawTimer);
      clearTimeout(trainTimer);
      forget();
      drawTimer = setTimeout(redraw, DRAW_AFTER);
      trainTimer = setTimeout(() => train([settings.homophily]), TRAIN_AFTER);
    } });
    input.value = settings[name];
    return h("div", { class: "slider" }, h("label", { for: `slider-${name}` }, h("span", {}, label), output), input);
  }

  async function redraw() {
    drawing?.abort();
    drawing = new AbortController();
    try {
      const picture = await post("/api/playground/graph", settings, drawing.signal);
      replace(problem);
      metrics = picture.metrics;
      const shown = network.show(picture);
      const rest = shown < picture.labels.length ? `, ${shown} of ${picture.labels.length} nodes drawn` : "";
      caption.textContent = `${picture.labels.length} nodes, ${picture.edges.length.toLocaleString("en")} edges${rest}. Coloured edges stay within a class.`;
      replace(metricList, Object.entries(picture.metrics).map(([name, value]) =>
        h("div", { class: "metric", title: picture.reasons[name] ?? known.metrics[name], "data-metric": name },
          h("span", {}, words(name)),
          h("b", {}, value === null ? "–" : value.toFixed(3)), bar(value))));
      drawChart();
    } catch (error) {
      if (error.name !== "AbortError") replace(problem, errorBox(error.message));
    }
  }

  function drawChart() {
    const series = Object.fromEntries(Object.entries(points()).map(([model, found]) =>
      [model, found.map((point) => ({ ...point, x: point.metrics[axis.value] ?? 0 }))]));
    replace(chart, lineChart(series, { across: AXES[axis.value], now: metrics[axis.value], width: Math.max(300, chart.clientWidth) }));
  }

  function drawAccuracies() {
    replace(accuracyList, Object.entries(MODELS).map(([model, [name, what]]) => {
      const found = latest[model];
      return h("div", { class: `accuracy ${model}`, "data-model": model },
        h("span", {}, h("b", {}, name), h("span", { class: "dim small" }, ` ${what}`)),
        h("span", { class: "value" }, found ? `${percent(found.mean)} ± ${percent(found.std)} %` : "…"),
        bar(found?.mean));
    }));
    const { "mlp-2": own, gcn, "acm-gcn": mixed } = latest;
    insight.hidden = !(own && gcn && mixed);
    if (!insight.hidden) insight.textContent = told(own.mean, gcn.mean, mixed.mean);
  }

  /** What was trained belongs to a graph that is no longer shown. */
  function forget() {
    stopTraining();
    latest = {};
    status.textContent = "Waiting for the sliders to rest …";
    drawAccuracies();
  }

  function stopTraining() {
    turn += 1;
    unfollow?.();
    unfollow = null;
    if (job) post(`/api/jobs/${job}/stop`).catch(() => {});
    job = null;
  }

  async function train(homophilies) {
    forget();
    const mine = turn;
    const into = points();
    status.textContent = "Starting …";
    try {
      const started = await post("/api/playground/training", { sliders: settings, homophilies });
      if (mine !== turn) {
        post(`/api/jobs/${started.id}/stop`).catch(() => {});
        return;
      }
      job = started.id;
    } catch (error) {
      if (mine === turn) status.textContent = error.message;
      return;
    }
    unfollow = follow(job, {
      state: ({ state, error }) => {
        if (state === "waiting") status.textContent = "Waiting for a free worker …";
        if (state === "failed") status.textContent = error;
        if (state === "done") {
          status.textContent = "Mean ± standard deviation of test accuracy over 5 random splits.";
          announce("training is finished");
        }
        if (state === "done" || state === "failed") job = null;
      },
      training: ({ model, done, total }) => { status.textContent = `Training ${MODELS[model][0]}, ${done} of ${total} done …`; },
      accuracy: (found) => {
        into[found.model] = [...into[found.model].filter((point) => point.homophily !== found.homophily), found];
        if (homophilies.length === 1 || Math.abs(found.homophily - settings.homophily) < 1e-9) latest[found.model] = found;
        drawAccuracies();
        drawChart();
      },
    });
  }

  function clear() {
    collected.delete(group());
    drawChart();
  }
}

function told(own, gcn, mixed) {
  const points = (value) => `${Math.abs(100 * value).toFixed(0)} points`;
  const gain = gcn - own, repair = mixed - gcn;
  if (gain < -0.02) return repair > 0.02
    ? `Averaging over neighbours costs ${points(gain)} here. Mixing channels wins back ${points(repair)}.`
    : `Averaging over neighbours costs ${points(gain)} here.`;
  if (gain > 0.02) return `The graph helps: averaging over neighbours adds ${points(gain)} to own features.`;
  return "Averaging over neighbours makes no difference here.";
}
