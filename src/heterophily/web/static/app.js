// The frame: which view the address names. A view is a function that fills an element and may
// return a function to call when it is left.

import { errorBox, h, replace } from "./dom.js";
import { graphs } from "./graphs.js";
import { graph } from "./graph.js";
import { playground } from "./playground.js";
import { results } from "./results.js";
import { setUpTheme } from "./theme.js";

const VIEWS = {
  playground: { title: "Playground", show: playground },
  graph: { title: "Your graph", show: (page, id) => (id ? graph(page, id) : graphs(page)) },
  results: { title: "Results", show: results },
};

const main = document.getElementById("main");
let leave = null;
let visit = 0;

async function route() {
  const [asked, argument] = location.hash.slice(1).split("/");
  const name = asked in VIEWS ? asked : "playground";
  const view = VIEWS[name];
  document.title = `${view.title} · heterophily`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  leave?.();
  leave = null;
  const number = ++visit;
  const page = h("div", { class: "page" });
  replace(main, page);
  scrollTo(0, 0);
  try {
    const left = await view.show(page, argument && decodeURIComponent(argument));
    if (number === visit) leave = left ?? null;
    else left?.();
  } catch (error) {
    replace(page, h("h1", {}, view.title), errorBox(error.message));
  }
}

setUpTheme(document.getElementById("theme"));
addEventListener("hashchange", route);
route();
