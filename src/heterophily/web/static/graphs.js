// Your graphs: drop files, take an example, or come back to an earlier one.

import { get, getKnown, post, remove, send } from "./api.js";
import { columnsForm } from "./columns.js";
import { errorBox, h, replace } from "./dom.js";
import { jobsAtWork } from "./jobs.js";

const ROLES = { edges: "table of edges", nodes: "table of nodes", graph: "whole graph" };

export async function graphs(page) {
  const [known, earlier] = await Promise.all([getKnown(), get("/api/graphs")]);
  let chosen = []; // {file, role}
  let form = null; // the columns of chosen tables
  let hasHeader = null; // not said: seen from the first lines
  const below = h("div", {});
  const input = h("input", { type: "file", multiple: true, class: "hidden", id: "files", tabindex: -1, onchange: () => take(input.files) });
  const zone = h("div", { class: "drop" },
    h("h2", {}, "Drop your graph here"),
    h("p", { class: "dim" }, "A table of edges and a table of nodes (.csv, .tsv, .parquet, .jsonl), or one .npz, .graphml or .gexf file."),
    h("p", {}, h("button", { type: "button", class: "primary", onclick: () => input.click() }, "Choose files"), input),
    h("p", { class: "dim small" }, `At most ${known.max_upload_mb} MB. Files stay on this machine.`));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files);
  });
  const list = h("section", { class: "card", "aria-label": "Earlier graphs" });
  const atWork = h("section", { class: "card", id: "at-work", "aria-label": "At work", hidden: true });

  replace(page,
    h("h1", {}, "Is the heterophily of your graph harmful?"),
    h("p", { class: "lead" }, "Get a verdict with the numbers behind it, then compare models on your own data."),
    zone, below, atWork,
    h("div", { class: "card", style: { marginTop: "1.1rem" } },
      h("h2", {}, "Or take an example"),
      h("div", { class: "chips" }, Object.entries(known.examples).map(([name, text]) =>
        h("button", { type: "button", onclick: () => open(() => post("/api/graphs/examples", { name })) }, h("b", {}, name), h("span", { class: "dim wide-only" }, ` · ${text}`))))),
    list);
  showEarlier(earlier);
  const left = jobsAtWork(atWork, (id) => earlier.find((graph) => graph.id === id)?.name);

  function showEarlier(found) {
    list.hidden = !found.length;
    replace(list, h("h2", {}, "Earlier graphs"), h("ul", { class: "graph-list" }, found.map((graph) =>
      h("li", {},
        h("span", {}, h("a", { href: `#graph/${graph.id}` }, graph.name),
          h("span", { class: "dim small" }, ` ${graph.headline.slice(graph.headline.indexOf(":") + 1)}`)),
        h("button", { type: "button", class: "quiet", "aria-label": `Remove ${graph.name}`, onclick: async () => {
          try {
            await remove(`/api/graphs/${graph.id}`);
            showEarlier(await get("/api/graphs"));
          } catch (error) {
            replace(below, errorBox(error.message));
          }
        } }, "Remove")))));
  }

  // Guess what each file is by its name; two tables are edges and nodes.
  function take(files) {
    chosen = [...files].slice(0, 3).map((file) => ({ file, role: guess(file.name, known.endings) }));
    const tables = chosen.filter(({ role }) => role !== "graph");
    if (tables.length === 2 && tables[0].role === tables[1].role) {
      const [more, fewer] = [...tables].sort((one, other) => other.file.size - one.file.size);
      more.role = "edges";
      fewer.role = "nodes";
    }
    input.value = "";
    hasHeader = null;
    look();
  }

  // Tables are looked at first, so that their columns can be chosen; a whole graph is read at once.
  async function look() {
    form = null;
    if (tooLarge()) return stage(tooLarge());
    if (chosen.some(({ role }) => role === "graph")) {
      stage();
      return upload();
    }
    stage();
    await busy("Looking at the columns …", async () => {
      const preview = await send("/api/graphs/previews", files({ has_header: hasHeader }));
      form = columnsForm(preview);
      stage();
    }, stage);
  }

  function stage(problem) {
    const header = h("input", { type: "checkbox", id: "has-header", checked: hasHeader ?? true, onchange: () => { hasHeader = header.checked; look(); } });
    const isTables = chosen.every(({ role }) => role !== "graph");
    replace(below, h("section", { class: "card", "aria-label": "Chosen files", style: { marginTop: "1.1rem" } },
      h("h2", {}, "Chosen files"),
      chosen.map((item) => h("p", { class: "row" },
        h("select", { "aria-label": `What ${item.file.name} is`, onchange: (event) => { item.role = event.target.value; look(); } },
          Object.entries(ROLES).map(([value, text]) => h("option", { value, selected: value === item.role }, text))),
        h("span", {}, item.file.name), h("span", { class: "dim small" }, size(item.file.size)))),
      isTables && h("label", { class: "row" }, header, "the first line has column names"),
      problem && errorBox(problem),
      form && h("hr", {}), form?.element,
      (form || !isTables) && h("p", { class: "row", style: { marginTop: "0.9rem" } }, h("button", { type: "button", class: "primary", onclick: upload }, "Diagnose"))));
  }

  function files(reading) {
    const content = new FormData();
    for (const { file, role } of chosen) content.append(role, file, file.name);
    content.append("reading", JSON.stringify(reading));
    return content;
  }

  function tooLarge() {
    const total = chosen.reduce((sum, { file }) => sum + file.size, 0);
    return total > known.max_upload_mb * 2 ** 20 && `these files are larger than ${known.max_upload_mb} MB; send smaller files, or ask the person who started the page to raise --max-upload-mb`;
  }

  function upload() {
    const reading = form ? { ...form.read(), has_header: hasHeader } : {};
    open(() => send("/api/graphs", files(reading)), stage);
  }

  const open = (request, refused = (sentence) => replace(below, errorBox(sentence))) =>
    busy("Reading …", async () => {
      const { graph } = await request();
      location.hash = `graph/${graph.id}`;
    }, refused);

  async function busy(text, work, refused) {
    zone.setAttribute("aria-busy", "true");
    const note = h("p", { class: "dim", role: "status" }, text);
    below.append(note);
    try {
      await work();
    } catch (error) {
      refused(error.message);
    } finally {
      note.remove();
      zone.removeAttribute("aria-busy");
    }
  }

  return left;
}

function guess(name, endings) {
  const bare = name.toLowerCase().replace(/\.gz$/, "");
  if (endings.graph.some((ending) => bare.endsWith(ending))) return "graph";
  return /node|vert|feature|label/.test(bare) ? "nodes" : "edges";
}

function size(bytes) {
  return bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.max(1, Math.round(bytes / 1e3))} kB`;
}
