// The columns of tables: what each holds, and lists to say which of them is what.

import { h, replace } from "./dom.js";

const SHOWN = 40; // columns of a wide table whose kinds can be changed here
const LEFT_OUT = "ignore";
const AUTOMATIC = "found automatically";
const ROLES = [
  { key: "label", table: "nodes", title: "Label", none: "choose a column" },
  { key: "node_id", table: "nodes", title: "Id of a node", none: AUTOMATIC },
  { key: "source", table: "edges", title: "Edge from", none: AUTOMATIC },
  { key: "target", table: "edges", title: "Edge to", none: AUTOMATIC },
  { key: "weight", table: "edges", title: "Weight", none: AUTOMATIC },
  { key: "edge_type", table: "edges", title: "Type of edge", none: "none" },
];

// Returns an element and a function that reads what was chosen. `reading` is what was chosen before.
export function columnsForm(preview, reading) {
  const { tables, kinds } = preview;
  const chosen = {};
  for (const { key, table } of ROLES) {
    if (tables[table]) chosen[key] = reading ? reading[key] ?? null : tables[table].roles[key] ?? null;
  }
  if (reading && tables.nodes && !chosen.label) chosen.label = tables.nodes.roles.label ?? null;
  const changed = { ...(reading?.columns ?? {}) };
  for (const name of reading?.ignore ?? []) changed[name] = LEFT_OUT;
  const directed = h("input", { type: "checkbox", checked: reading?.is_directed ?? false });
  const list = h("div", {});
  drawList();

  const roles = ROLES.filter(({ key }) => key in chosen).map(({ key, table, title, none }) =>
    h("label", { class: "field" }, title,
      h("select", { name: key, onchange: (event) => { chosen[key] = event.target.value === "" ? null : tables[table].columns[Number(event.target.value)].name; drawList(); } },
        h("option", { value: "", selected: chosen[key] === null }, tables[table].roles[key] ? AUTOMATIC : none),
        tables[table].columns.map((column, place) => h("option", { value: place, selected: column.name === chosen[key] }, column.name)))));

  function drawList() {
    if (!tables.nodes) return;
    const { columns, rows } = tables.nodes;
    const more = columns.length - SHOWN;
    replace(list,
      h("h3", {}, `Columns of the ${rows.toLocaleString("en")} nodes`),
      h("div", { class: "scroll" }, h("table", { class: "columns" },
        h("thead", {}, h("tr", {}, h("th", {}, "column"), h("th", {}, "is read as"), h("th", { class: "wide-only" }, "first values"))),
        h("tbody", {}, columns.slice(0, SHOWN).map((column) => h("tr", { "data-column": column.name },
          h("td", {}, column.name),
          h("td", {}, kindOf(column)),
          h("td", { class: "dim small wide-only" }, column.examples.join(", "))))))),
      more > 0 && h("p", { class: "dim small" }, `… and ${more.toLocaleString("en")} more columns; their kinds are recognised automatically.`));
  }

  function kindOf(column) {
    const role = ROLES.find(({ key, table }) => table === "nodes" && chosen[key] === column.name);
    if (role) return h("b", {}, role.key === "label" ? "label" : "id of the node");
    const known = column.kind in kinds;
    const now = changed[column.name] ?? (known ? column.kind : "");
    return h("select", { "aria-label": `Kind of ${column.name}`, onchange: (event) => {
      if (event.target.value === "" || event.target.value === column.kind) delete changed[column.name];
      else changed[column.name] = event.target.value;
    } },
      !known && h("option", { value: "", selected: now === "" }, `${column.kind.replace("-", " ")}: left out`),
      Object.entries(kinds).map(([kind, text]) => h("option", { value: kind, selected: kind === now, title: text }, kind)),
      h("option", { value: LEFT_OUT, selected: now === LEFT_OUT }, "leave out"));
  }

  const element = h("div", {},
    h("div", { class: "row fields" }, roles, h("label", { class: "row" }, directed, "keep direction")),
    list);
  const read = () => {
    const taken = new Set([chosen.label, chosen.node_id]);
    const kept = Object.entries(changed).filter(([name]) => !taken.has(name));
    return {
      ...chosen,
      ignore: kept.filter(([, kind]) => kind === LEFT_OUT).map(([name]) => name),
      columns: Object.fromEntries(kept.filter(([, kind]) => kind !== LEFT_OUT)),
      is_directed: directed.checked,
    };
  };
  return { element, read };
}
