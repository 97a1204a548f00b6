"use strict";
// Sorting: a click on the head of a column; numbers by data-order, texts by their letters.
document.querySelectorAll("table.sorts").forEach((table) => {
  const body = table.tBodies[0];
  table.querySelectorAll("th button").forEach((button) => {
    const head = button.closest("th");
    button.addEventListener("click", () => {
      const isNumber = head.classList.contains("number");
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : isNumber;
      const value = (row) => {
        const cell = row.cells[head.cellIndex];
        return cell.dataset.order !== undefined ? Number(cell.dataset.order) : cell.textContent;
      };
      const compare = (a, b) => {
        const [x, y] = [value(a), value(b)];
        return typeof x === "number" && typeof y === "number"
          ? (x < y ? -1 : x > y ? 1 : 0)
          : String(x).localeCompare(String(y), undefined, { numeric: true });
      };
      const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b));
      body.append(...rows);
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
});
// The theme switch: what the system asks for, until somebody presses the button.
document.querySelectorAll("button[data-switch=theme]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
});
// Clouds of points: the nearest one is named below the picture. Texts only become textContent.
const read = (name) => JSON.parse(document.getElementById(name).textContent);
document.querySelectorAll("svg[data-points]").forEach((picture) => {
  const points = read(picture.dataset.points);
  const nodes = read(picture.dataset.nodes);
  const line = picture.closest("figure").querySelector(".hover");
  const text = (i) => {
    const given = points.predicted && points.predicted[i];
    const guess = points.predicted ? `, predicted ${nodes.names[given]}` : "";
    return `node ${nodes.ids[i]}: ${nodes.names[nodes.labels[i]] ?? "no label"}${guess}`;
  };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    let best = -1;
    let least = 144;
    points.x.forEach((px, i) => {
      const distance = (px - x) ** 2 + (points.y[i] - y) ** 2;
      if (distance < least) [least, best] = [distance, i];
    });
    line.textContent = best < 0 ? "" : text(best);
  });
});
