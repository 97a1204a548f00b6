// What the server does at this moment: uploads that are read, diagnoses, comparisons; each can be cancelled.

import { get, post } from "./api.js";
import { errorBox, h, replace } from "./dom.js";

const SECONDS = 2;
const WORK = { import: "Reading", diagnosis: "Diagnosing", comparison: "Comparing models on" };

// Fill an element with the jobs that wait or run, and keep it true. Returns a function that stops.
export function jobsAtWork(element, nameOf) {
  let timer = null;
  let isLeft = false;

  async function look() {
    clearTimeout(timer);
    let found = [];
    try {
      found = (await get("/api/jobs")).filter(({ state }) => state === "waiting" || state === "running");
      if (!isLeft) show(found);
    } catch {
      element.hidden = true; // the rest of the page says that the server does not answer
    }
    if (!isLeft) timer = setTimeout(look, 1000 * SECONDS);
  }

  function show(found) {
    element.hidden = !found.length;
    replace(element, h("h2", {}, "At work"), h("ul", { class: "graph-list" }, found.map((job) => {
      const name = job.request.title ?? nameOf(job.graph) ?? "a graph";
      return h("li", { "data-job": job.id },
        h("span", {}, `${WORK[job.kind] ?? job.kind} ${name}`,
          h("span", { class: "dim small" }, job.state === "waiting" ? " waits" : ` for ${Math.max(0, Math.round(Date.now() / 1000 - job.created))} s`)),
        h("button", { type: "button", class: "quiet", "aria-label": `Cancel: ${WORK[job.kind] ?? job.kind} ${name}`, onclick: () => cancel(job) }, "Cancel"));
    })));
  }

  async function cancel(job) {
    try {
      await post(`/api/jobs/${job.id}/stop`);
    } catch (error) {
      element.append(errorBox(error.message));
      return;
    }
    look();
  }

  look();
  return () => { isLeft = true; clearTimeout(timer); };
}
