// Elements from names, attributes and children. Text is always text: nothing is parsed as HTML.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

export const s = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

export const replace = (element, ...children) => element.replaceChildren(...children.flat(3).filter(Boolean));

export const announce = (text) => { document.getElementById("announcer").textContent = text; };

export const percent = (share, digits = 1) =>
  share === null || share === undefined ? "–" : (100 * share).toFixed(digits);

export const spread = (mean, std, digits = 1) =>
  mean === null || mean === undefined ? "–" : std ? `${percent(mean, digits)} ± ${percent(std, digits)}` : percent(mean, digits);

export const words = (name) => name.replaceAll("_", " ");

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

export function deviation(values) {
  const centre = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)));
}

export function errorBox(sentence) {
  return h("p", { class: "error", role: "alert" }, sentence);
}

export function bar(share, attributes = {}) {
  const width = `${100 * Math.min(Math.max(share ?? 0, 0), 1)}%`;
  return h("div", { class: "bar", "aria-hidden": "true", ...attributes }, h("i", { style: { width } }));
}

// "H_agg^M" with its lower and upper part set as such.
export function symbol(text) {
  const [, base, lower, upper, rest] = /^([^_^]*)(?:_([A-Za-z0-9]+))?(?:\^(\w+))?(.*)$/.exec(text);
  return h("span", { class: "dim" }, base, lower && h("sub", {}, lower), upper && h("sup", {}, upper), rest);
}
