// One graph: verdict first, then the numbers behind it, then models compared on it.

import { follow, get, getKnown, post } from "./api.js";
import { heatMap, histogram, standing, strip } from "./charts.js";
import { columnsForm } from "./columns.js";
import { comparison } from "./comparison.js";
import { announce, errorBox, h, percent, replace, symbol, words } from "./dom.js";

const KINDS = { homophilic: "Homophilic", harmless: "Harmless heterophily", harmful: "Harmful heterophily", little: "The graph adds little", "too-few": "Too few labels to tell" };
const SOURCES = { own: "own features", average: "average with neighbours", neighbours: "neighbours' features", structure: "which neighbours", labels: "neighbours' labels", all: "everything from the graph" };

export async function graph(page, asked) {
  const id = encodeURIComponent(asked);
  const [known, facts] = await Promise.all([getKnown(), get(`/api/graphs/${id}`)]);
  const body = h("div", {}, h("section", { class: "card" }, h("p", { class: "dim", role: "status" }, "Diagnosing …"), h("progress", {})));
  const models = h("div", { style: { marginTop: "1.1rem" } });
  const columns = h("div", {});
  const hasNoLabel = facts.reading !== null && facts.report.classes === 0;
  const { found, done, warnings } = facts.report;
  replace(page,
    h("div", { class: "row between head" },
      h("div", {}, h("h1", {}, facts.name),
        h("p", { class: "dim" }, facts.headline.slice(facts.headline.indexOf(":") + 2)),
        warnings.map((text) => h("p", { class: "warning" }, `Warning: ${text}.`)),
        found.length + done.length > 0 && h("details", { class: "dim small" }, h("summary", {}, "What was found and done while reading"),
          h("ul", {}, [...found, ...done].map((text) => h("li", {}, text))))),
      h("div", { class: "row" },
        h("a", { class: "button", id: "report", href: `/api/graphs/${id}/report.html`, target: "_blank", rel: "noopener", hidden: true }, "Open the report"),
        facts.reading && h("button", { type: "button", id: "columns", onclick: () => showColumns() }, "Columns"),
        h("a", { class: "button", href: "#graph" }, "Another graph"))),
    columns, body, models);

  // The tables can be read again, otherwise: another label, other kinds, other ends of edges.
  async function showColumns(problem) {
    if (columns.firstChild && !problem) return replace(columns);
    const section = h("section", { class: "card", "aria-label": "Columns", style: { marginBottom: "1.1rem" } },
      h("h2", {}, hasNoLabel ? "Which column is the label?" : "Columns"), h("p", { class: "dim", role: "status" }, "Looking at the columns …"));
    replace(columns, section);
    try {
      const form = columnsForm(await get(`/api/graphs/${id}/columns`), facts.reading);
      const again = async () => {
        button.disabled = true;
        try {
          await post(`/api/graphs/${id}/reading`, { ...form.read(), has_header: facts.reading.has_header });
          window.dispatchEvent(new HashChangeEvent("hashchange"));
        } catch (error) {
          button.disabled = false;
          replace(told, errorBox(error.message));
        }
      };
      const button = h("button", { type: "button", class: "primary", onclick: again }, "Read again");
      const told = h("div", {}, problem && errorBox(problem));
      replace(section, h("h2", {}, hasNoLabel ? "Which column is the label?" : "Columns"), form.element, told,
        h("p", { class: "row", style: { marginTop: "0.9rem" } }, button, h("span", { class: "dim small" }, "The diagnosis starts again. Comparisons of this graph are removed; their runs stay in the store.")));
    } catch (error) {
      replace(section, errorBox(error.message));
    }
  }

  if (hasNoLabel) {
    replace(body, h("section", { class: "card" }, h("p", {}, "Nothing is labelled yet, so there is nothing to diagnose. Choose the column of the label above.")));
    showColumns();
    return () => {};
  }
  const leaveModels = comparison(models, facts, known);
  const job = facts.jobs.findLast((one) => one.kind === "diagnosis");
  const unfollow = job ? follow(job.id, {
    state: async ({ state, error }) => {
      if (state === "failed" || state === "stopped") replace(body, errorBox(error ?? "the diagnosis was stopped"));
      if (state === "done") {
        const diagnosis = await get(`/api/graphs/${id}/diagnosis`);
        replace(body, sections(diagnosis, facts, known));
        page.querySelector("#report").hidden = false;
        announce(diagnosis.verdict.sentence);
      }
    },
  }) : null;
  return () => { unfollow?.(); leaveModels(); };
}

function sections(diagnosis, facts, known) {
  const { verdict, metrics, probe, plots } = diagnosis;
  const place = standing(known.datasets, metrics, facts.name);
  return [
    h("section", { class: `card verdict ${verdict.kind}`, "aria-label": "Verdict" },
      h("span", { class: "badge" }, KINDS[verdict.kind] ?? verdict.kind),
      h("p", { class: "sentence", id: "verdict" }, verdict.sentence),
      h("ul", {}, verdict.because.map((reason) => h("li", {}, reason))),
      verdict.notes.map((note) => h("p", { class: "alert" }, note))),
    h("div", { class: "grid two" },
      place && card("Where it stands", place, h("p", { class: "dim small" }, "Top left: neighbours differ, yet the classes stay apart after averaging over neighbours.")),
      probe && card("What each source of information tells", probeTable(probe)),
      plots.local_homophily && card("Local homophily", histogram(plots.local_homophily), h("p", { class: "dim small" }, "Number of nodes for each share. The mean alone hides how much nodes differ.")),
      plots.compatibility && card("Which classes are linked", heatMap(plots.compatibility), h("p", { class: "dim small" }, "Percent of the edges of the row's class that lead to the column's class."))),
    card("Metrics", h("div", { class: "scroll" }, metricTable(metrics, verdict.metric_spreads ?? {}, known))),
  ];
}

const card = (title, ...content) => h("section", { class: "card", "aria-label": title }, h("h2", {}, title), content);

function metricTable(metrics, spreads, known) {
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", {}, "metric"), h("th", { class: "number" }, "value"), h("th", { class: "wide-only" }, "from 0 to 1; ticks: datasets of the paper"))),
    h("tbody", {}, Object.entries(metrics).map(([name, value]) => {
      const others = Object.fromEntries(Object.entries(known.datasets).map(([dataset, values]) => [dataset, values[name]]));
      const about = spreads[name] ? ` ± ${spreads[name].toFixed(3)}` : "";
      return h("tr", {}, h("td", {}, `${words(name)} `, symbol(known.metrics[name])),
        h("td", { class: "number" }, value === null ? "undefined" : `${value.toFixed(3)}${about}`),
        h("td", { class: "wide-only" }, strip(value, others)));
    })));
}

function probeTable(probe) {
  const learners = Object.values(probe.scores);
  const best = (setting) => {
    const found = learners.map((scores) => scores[setting]).filter((score) => score !== undefined);
    return found.length ? percent(Math.max(...found)) : "";
  };
  const signed = (value) => `${value < 0 ? "−" : "+"}${percent(Math.abs(value))}`;
  const against = ({ difference, interval }) => `${signed(difference)} (${signed(interval[0])} to ${signed(interval[1])})`;
  const hasOwn = probe.average_against_own !== null;
  const rows = hasOwn ? [["own", best("own"), "", ""], ["average", best("average"), "", against(probe.average_against_own)]] : [];
  for (const [name, gain] of Object.entries(probe.gains)) rows.push([name, best(hasOwn ? name : `own+${name}`), hasOwn ? best(`own+${name}`) : "", against(gain)]);
  const score = probe.score === "roc-auc" ? "ROC AUC × 100" : `${words(probe.score.replace("-", "_"))}, %`;
  const base = hasOwn ? "own features" : "the largest class";
  return [
    h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", {}, `source (${score})`), h("th", { class: "number" }, "alone"), hasOwn && h("th", { class: "number" }, "with own features"), h("th", { class: "number" }, `gain over ${base} (95 % interval)`))),
      h("tbody", {}, rows.map(([name, alone, beside, told]) => h("tr", {},
        h("td", {}, SOURCES[name] ?? name),
        h("td", { class: "number" }, alone),
        hasOwn && h("td", { class: "number" }, beside),
        h("td", { class: "number dim small" }, told)))))),
    h("p", { class: "dim small" }, `Scores on nodes that the classifier had not seen (${probe.nodes.toLocaleString("en")} labelled nodes, ${probe.folds} folds × ${probe.repeats}). Classifiers are linear${probe.tree_nodes ? ", or boosted trees where these are better" : ""}.`),
  ];
}
