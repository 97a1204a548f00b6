// Results: the tables of the paper from the store, ours above theirs; a cell leads to its runs.

import { get } from "./api.js";
import { errorBox, h, percent, replace, spread } from "./dom.js";

export async function results(page, asked) {
  const studies = await get("/api/studies");
  const chosen = studies.find((study) => study.name === asked) ?? studies[0];
  const protocol = h("select", { onchange: load }, h("option", { value: "published" }, "the paper's settings"), h("option", { value: "validated" }, "settings found on validation data"));
  const picker = h("select", { onchange: () => { location.hash = `results/${picker.value}`; } },
    studies.map((study) => h("option", { value: study.name, selected: study.name === chosen.name }, study.place ? `${study.place}: ${study.title}` : study.title)));
  const body = h("div", {});
  const dialog = h("dialog", { "aria-label": "Runs of a cell", onclick: (event) => { if (event.target === dialog) dialog.close(); } });
  let isLeft = false;
  replace(page,
    h("h1", {}, "Our results and the paper's"),
    h("p", { class: "lead" }, "Test accuracy in percent: ours, from the runs in your store, above the paper's. Choose a cell to see its runs."),
    h("div", { class: "card" },
      h("div", { class: "choose" }, h("label", { class: "field" }, "Table", picker), h("label", { class: "field" }, "Hyper-parameters", protocol))),
    body, dialog);
  load();
  return () => { isLeft = true; };

  async function load() {
    replace(body, h("section", { class: "card", style: { marginTop: "1.1rem" } }, h("p", { class: "dim", role: "status" }, "Reading the store …"), h("progress", {})));
    const wanted = protocol.value;
    try {
      const table = await get(`/api/studies/${chosen.name}?protocol=${wanted}`);
      if (!isLeft && wanted === protocol.value) replace(body, picture(table));
    } catch (error) {
      if (!isLeft) replace(body, errorBox(error.message));
    }
  }

  function picture(table) {
    const cells = new Map(table.cells.map((cell) => [`${cell.row} ${cell.dataset}`, cell]));
    return [
      h("section", { class: "card", style: { marginTop: "1.1rem" } },
        h("div", { class: "legend dim", style: { marginBottom: "0.9rem" } },
          h("span", {}, h("i", { class: "key within" }), "within one standard deviation of the paper"),
          h("span", {}, h("i", { class: "key beyond" }), "further away"),
          h("span", {}, h("i", { class: "key none" }), "no run, or nothing to compare with")),
        h("div", { class: "scroll" }, h("table", { class: "study" },
          h("thead", {}, h("tr", {}, h("th", {}), table.datasets.map((dataset) => h("th", { scope: "col" }, dataset)))),
          h("tbody", {}, table.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row),
            table.datasets.map((dataset) => h("td", {}, button(cells.get(`${row} ${dataset}`))))))))),
        h("p", { class: "dim small", style: { marginTop: "0.8rem" } }, "Above: ours. Below: the paper's.")),
      h("section", { class: "card" }, h("h2", {}, "How this was made"), h("ul", { class: "dim" }, table.lines.map((text) => h("li", {}, text)))),
    ];
  }

  function button(cell) {
    const kind = cell.is_within === true ? "within" : cell.is_within === false ? "beyond" : "";
    const partial = cell.finished && cell.finished < cell.wanted ? ` (${cell.finished}/${cell.wanted})` : "";
    const ours = cell.mean === null ? (cell.finished ? "diverged" : "–") : percent(cell.mean, 2) + partial;
    const label = `${cell.row} on ${cell.dataset}: ours ${ours}, the paper ${percent(cell.published, 2)}`;
    return h("button", { type: "button", class: `cell ${kind}`, "aria-label": label, onclick: () => show(cell) }, ours, h("small", {}, percent(cell.published, 2)));
  }

  async function show(cell) {
    const difference = cell.mean === null || cell.published === null ? null : cell.mean - cell.published;
    const runs = h("div", {}, h("p", { class: "dim" }, cell.keys.length ? "Reading …" : `No finished run. ${cell.remark ? `${cell.remark}.` : ""}`));
    replace(dialog,
      h("div", { class: "row between" }, h("h2", {}, `${cell.row} on ${cell.dataset}`), h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => dialog.close() }, "✕")),
      h("div", { class: "row", style: { gap: "2rem", marginBottom: "1rem" } },
        fact("ours", spread(cell.mean, cell.std, 2)), fact("the paper", spread(cell.published, cell.published_std, 2)),
        difference !== null && fact("difference", `${difference >= 0 ? "+" : "−"}${percent(Math.abs(difference), 2)}`),
        cell.engine && fact("engine", cell.engine)),
      Object.keys(cell.settings).length > 0 && h("code", { class: "code", style: { marginBottom: "1rem" } }, Object.entries(cell.settings).map(([name, value]) => `${name}=${value}`).join("  ")),
      runs);
    dialog.showModal();
    if (!cell.keys.length) return;
    try {
      const found = await get(`/api/runs?${cell.keys.map((key) => `key=${key}`).join("&")}`);
      found.sort((one, other) => one.split_index - other.split_index);
      replace(runs, h("div", { class: "scroll" }, h("table", {},
        h("thead", {}, h("tr", {}, h("th", {}, "split"), ["test", "validation", "epochs", "seconds"].map((text) => h("th", { class: "number" }, text)), h("th", {}, "key"))),
        h("tbody", {}, found.map((run) => h("tr", {}, h("td", {}, `${run.split_rule} ${run.split_index}`),
          [percent(run.test_accuracy, 2), percent(run.validation_accuracy, 2), run.epochs, run.seconds.toFixed(2)].map((text) => h("td", { class: "number" }, text)),
          h("td", {}, h("code", { title: run.command }, run.key.slice(0, 12)))))))),
      h("p", { class: "dim small" }, "heterophily runs show KEY prints everything that is known about a run."));
    } catch (error) {
      replace(runs, errorBox(error.message));
    }
  }
}

const fact = (name, value) => h("div", {}, h("div", { class: "dim small" }, name), h("b", {}, value));
