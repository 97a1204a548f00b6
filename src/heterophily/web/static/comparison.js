// Models compared on a graph: choose, start, watch, stop, resume, take the files away.

import { follow, get, post } from "./api.js";
import { dotPlot } from "./charts.js";
import { announce, deviation, errorBox, h, mean, percent, replace, spread } from "./dom.js";

const FILES = {
  "report.html": "Report",
  "model.zip": "Model",
  "predictions.csv": "Predictions",
  "comparison.json": "Data",
};

export function comparison(place, facts, known) {
  let unfollow = null;
  const problem = h("div", {});
  const live = h("div", {});
  const repeats = h("input", { type: "number", min: 2, max: 50, value: 10, required: true });
  const splits = h("select", {}, facts.splits.map((rule) => h("option", { value: rule }, rule === "random" ? "random 60/20/20" : "of the data")));
  const boxes = known.models.map((name) => h("input", { type: "checkbox", value: name, checked: known.default_models.includes(name) }));
  const start = h("button", { type: "submit", class: "primary" }, "Compare");
  replace(place, h("section", { class: "card", "aria-label": "Compare models" },
    h("h2", {}, "Compare models on this graph"),
    h("form", { onsubmit: begin },
      h("fieldset", { class: "chips" }, h("legend", { class: "hidden" }, "Models"),
        boxes.map((box) => h("label", { class: "chip" }, box, h("span", {}, box.value)))),
      h("div", { class: "row", style: { margin: "1rem 0 0" } },
        h("label", { class: "row dim" }, "Splits", splits), h("label", { class: "row dim" }, "Repeats", repeats), start)),
    problem, live));
  const last = facts.jobs.find((job) => job.kind === "comparison");
  if (last) watch(last);
  return () => unfollow?.();

  async function begin(event) {
    event.preventDefault();
    try {
      const asked = { models: boxes.filter((box) => box.checked).map((box) => box.value), repeats: Number(repeats.value), splits: splits.value };
      if (asked.models.length < 2) throw new Error("choose at least two models to compare");
      replace(problem);
      watch(await post(`/api/graphs/${facts.id}/comparisons`, asked));
    } catch (error) {
      replace(problem, errorBox(error.message));
    }
  }

  // Show a job from its events; a job that is resumed is shown from its beginning again.
  // What can be clicked is made once and stays: only its surroundings are drawn anew.
  function watch(job) {
    unfollow?.();
    const runs = Object.fromEntries(job.request.models.map((model) => [model, new Map()]));
    const state = { name: job.state, done: 0, total: job.request.models.length * job.request.repeats, note: "" };
    const told = h("p", { id: "comparison-state", role: "status", style: { margin: 0 } });
    const stop = h("button", { type: "button", onclick: () => act("stop") }, "Stop");
    const resume = h("button", { type: "button", class: "primary", onclick: () => act("resume") }, "Resume");
    const progress = h("progress", { "aria-label": "finished runs" });
    const failure = h("div", {}), table = h("div", { class: "scroll", id: "comparison-table" }), after = h("div", {}), files = h("div", {});
    replace(live,
      h("div", { class: "row between", style: { margin: "1.4rem 0 0.6rem" } }, told, h("div", { class: "row" }, stop, resume)),
      progress, failure, table, after, files);
    draw();
    unfollow = follow(job.id, {
      state: ({ state: name, error }) => {
        state.name = name;
        replace(failure, name === "failed" && errorBox(error));
        if (name === "done") finish();
        draw();
      },
      run: (run) => { runs[run.model]?.set(run.split, run); draw(); },
      progress: ({ done, total }) => { Object.assign(state, { done, total, note: "" }); draw(); },
      writing: ({ what }) => { state.note = what; draw(); },
      comparison: (data) => replace(after, outcome(data)),
    });

    async function act(verb) {
      try {
        const now = await post(`/api/jobs/${job.id}/${verb}`);
        if (verb === "resume") watch(now);
      } catch (error) {
        replace(failure, errorBox(error.message));
      }
    }

    async function finish() {
      const { result } = await get(`/api/jobs/${job.id}`);
      replace(files, takeAway(job.id, result.files ?? []));
      announce("the comparison is finished");
    }

    function draw() {
      const isActive = state.name === "running" || state.name === "waiting";
      told.dataset.state = state.name;
      told.textContent = sentence(state);
      stop.hidden = !isActive;
      resume.hidden = state.name !== "stopped" && state.name !== "failed";
      start.disabled = isActive;
      progress.max = state.total;
      progress.value = state.done;
      replace(table, runTable(runs, job.request.repeats));
    }
  }
}

function sentence({ name, done, total, note }) {
  return {
    waiting: "Waiting for a free worker …",
    running: note ? `Writing ${note} …` : `${done} of ${total} runs`,
    done: `Finished: ${total} runs`,
    stopped: `Stopped after ${done} of ${total} runs`,
    failed: "Failed",
  }[name];
}

function runTable(runs, repeats) {
  const rows = Object.entries(runs).map(([model, found]) => {
    const values = [...found.values()].map((run) => run.test).filter((value) => value !== null);
    return { model, values, count: found.size, centre: values.length ? mean(values) : -1 };
  }).sort((one, other) => other.centre - one.centre);
  const tests = rows.flatMap(({ values }) => values);
  const range = tests.length ? [Math.min(...tests), Math.max(...tests)] : [0, 1];
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "model"), h("th", { class: "wide-only" }, "each run"), h("th", { class: "number" }, "test accuracy, %"), h("th", { class: "number" }, "runs"))),
    h("tbody", {}, rows.map(({ model, values, count, centre }) => h("tr", {},
      h("td", {}, h("b", {}, model)),
      h("td", { class: "dots wide-only" }, dotPlot(values, range)),
      h("td", { class: "number" }, values.length ? spread(centre, deviation(values), 2) : "–"),
      h("td", { class: "number dim" }, `${count} / ${repeats}`)))));
}

function takeAway(job, names) {
  return h("div", { class: "row", style: { marginTop: "1rem" } },
    h("span", { class: "dim" }, "Download:"),
    names.map((name) => h("a", {
      class: "button", href: `/api/jobs/${job}/files/${name}`,
      ...(name.endsWith(".html") ? { target: "_blank", rel: "noopener" } : { download: name }),
    }, FILES[name] ?? name)));
}

const TITLES = {
  "accuracy": "accuracy", "balanced-accuracy": "balanced accuracy", "macro-f1": "macro F1",
  "roc-auc": "ROC AUC", "average-precision": "average precision",
};

// The score that decides, with its interval: models, best first, then what costs nothing.
function scoreTable(result) {
  if (!result.score) return null;
  const line = (name, score, absence) => h("tr", {}, h("td", {}, name),
    h("td", { class: "number" }, score && score.mean !== null ? spread(score.mean, score.std, 2) : absence || "undefined"),
    h("td", { class: "number dim" }, score?.interval ? `${percent(score.interval.low, 0)} to ${percent(score.interval.high, 0)}` : ""));
  return h("div", { class: "scroll" }, h("table", { id: "comparison-scores" },
    h("thead", {}, h("tr", {}, h("th", {}, "model"), h("th", { class: "number" }, `test ${TITLES[result.score]}, %`), h("th", { class: "number" }, "95 % interval"))),
    h("tbody", {}, result.models.map((model) => line(h("b", {}, model.row), model.score)),
      (result.baselines ?? []).map((base) => line(`baseline: ${base.title}`, base.test, base.absence)))));
}

function outcome(result) {
  const { best, rivals } = result;
  const sentence = rivals.length ? `Best: ${best}. Not clearly worse: ${rivals.join(", ")}.` : `Best: ${best}, ahead of every other.`;
  return [
    h("p", { class: "insight", style: { marginTop: "1rem" } }, sentence),
    scoreTable(result),
    (result.sentences ?? []).map((text) => h("p", {}, text)),
    h("details", { style: { marginTop: "0.8rem" } }, h("summary", {}, "Tests of every pair"),
      h("div", { class: "scroll" }, h("table", {},
        h("thead", {}, h("tr", {}, ["better", "than"].map((text) => h("th", {}, text)), ["by, points", "p", "p (Holm)"].map((text) => h("th", { class: "number" }, text)), h("th", {}))),
        h("tbody", {}, [...result.tests].sort((one, other) => one.corrected - other.corrected).map((test) => {
          const names = test.difference < 0 ? [test.second, test.first] : [test.first, test.second];
          return h("tr", {}, names.map((name) => h("td", {}, name)), h("td", { class: "number" }, percent(Math.abs(test.difference), 2)),
            [test.p_value, test.corrected].map((p) => h("td", { class: "number" }, p === null ? "–" : p.toFixed(4))),
            h("td", { class: "dim" }, test.is_significant ? "clear difference" : "no clear difference"));
        })))),
      h("p", { class: "dim small" }, "t-test over the splits, corrected for their overlap (Nadeau and Bengio), then for the number of pairs (Holm).")),
    result.remarks.map((remark) => h("p", { class: "alert" }, remark)),
  ];
}
