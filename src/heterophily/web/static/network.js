// A small graph on a canvas: nodes push each other away, edges pull. Classes show as colours.

import { offThemeChange, onThemeChange } from "./theme.js";

export const CLASS_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#9b8b00", "#8a8f99"];
const MOST_DRAWN = 300;
const TICKS = 170;

// Keep at most MOST_DRAWN nodes, the same share of each class, and the edges among them.
function sample({ labels, edges }) {
  const step = Math.max(1, labels.length / MOST_DRAWN);
  const place = new Map();
  for (let at = 0; Math.floor(at) < labels.length && place.size < MOST_DRAWN; at += step) place.set(Math.floor(at), place.size);
  return {
    labels: [...place.keys()].map((node) => labels[node]),
    edges: edges.filter(([a, b]) => place.has(a) && place.has(b)).map(([a, b]) => [place.get(a), place.get(b)]),
  };
}

export class Network {
  constructor(canvas) {
    this.canvas = canvas;
    this.places = [];
    this.labels = [];
    this.edges = [];
    this.frame = 0;
    this.redraw = () => this.draw();
    this.observer = new ResizeObserver(this.redraw);
    this.observer.observe(canvas);
    onThemeChange(this.redraw);
  }

  // Show a graph. Nodes that were there stay where they are and drift to their new places.
  show(picture) {
    const { labels, edges } = sample(picture);
    const isNew = labels.length !== this.labels.length || labels.some((label, at) => label !== this.labels[at]);
    this.labels = labels;
    this.edges = edges;
    if (isNew) this.scatter();
    this.ticks = 0;
    cancelAnimationFrame(this.frame);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || document.hidden) {
      while (this.ticks < TICKS) this.tick();
      this.draw();
    } else {
      this.animate();
    }
    return labels.length;
  }

  scatter() {
    const classes = Math.max(...this.labels) + 1;
    this.places = this.labels.map((label, at) => {
      const turn = (2 * Math.PI * label) / classes;
      const spin = at * 2.39996; // the golden angle: even without chance
      const far = 0.16 * Math.sqrt(((at * 7919) % 101) / 101);
      return { x: 0.45 * Math.cos(turn) + far * Math.cos(spin), y: 0.45 * Math.sin(turn) + far * Math.sin(spin), dx: 0, dy: 0 };
    });
  }

  animate() {
    this.frame = requestAnimationFrame(() => {
      this.tick();
      this.draw();
      if (this.ticks < TICKS) this.animate();
    });
  }

  tick() {
    const heat = 1 - this.ticks++ / TICKS;
    const { places, edges } = this;
    const count = places.length;
    const ideal = 0.9 / Math.sqrt(count);
    for (let i = 0; i < count; i++) {
      const one = places[i];
      for (let j = i + 1; j < count; j++) {
        const other = places[j];
        const x = one.x - other.x, y = one.y - other.y;
        const push = (0.2 * ideal * ideal) / (x * x + y * y + 1e-4);
        one.dx += x * push; one.dy += y * push;
        other.dx -= x * push; other.dy -= y * push;
      }
      one.dx -= 0.012 * one.x; one.dy -= 0.012 * one.y;
    }
    const pull = 0.22 / Math.max(1, (2 * edges.length) / count);
    for (const [a, b] of edges) {
      const one = places[a], other = places[b];
      const x = (other.x - one.x) * pull, y = (other.y - one.y) * pull;
      one.dx += x; one.dy += y;
      other.dx -= x; other.dy -= y;
    }
    for (const place of places) {
      const step = Math.hypot(place.dx, place.dy);
      const most = 0.05 * heat + 0.002;
      const scale = step > most ? most / step : 1;
      place.x += place.dx * scale;
      place.y += place.dy * scale;
      place.dx = place.dy = 0;
    }
  }

  draw() {
    const { canvas, places } = this;
    const ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !places.length) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    const reach = (axis) => { // a few that fly far do not make all others small
      const sorted = places.map((place) => Math.abs(place[axis])).sort((one, other) => one - other);
      return Math.max(sorted[Math.floor(0.96 * (sorted.length - 1))], 0.2);
    };
    const across = (0.42 * canvas.width) / reach("x"), up = (0.42 * canvas.height) / reach("y");
    const [scaleX, scaleY] = [Math.min(across, 1.7 * up), Math.min(up, 1.7 * across)];
    const inside = (offset, half) => { // those that fly far come nearer to the frame, the farther the nearer
      const share = Math.abs(offset) / half;
      const kept = share < 0.84 ? share : 0.84 + 0.13 * (1 - Math.exp((0.84 - share) / 0.4));
      return half * (1 + Math.sign(offset) * kept);
    };
    const at = (place) => [inside(place.x * scaleX, canvas.width / 2), inside(place.y * scaleY, canvas.height / 2)];
    const grey = getComputedStyle(canvas).color;
    pen.lineWidth = ratio * 0.8;
    for (const [a, b] of this.edges) {
      const isWithin = this.labels[a] === this.labels[b];
      pen.strokeStyle = isWithin ? CLASS_COLOURS[this.labels[a]] : grey;
      pen.globalAlpha = isWithin ? 0.55 : 0.28;
      pen.beginPath();
      pen.moveTo(...at(places[a]));
      pen.lineTo(...at(places[b]));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    const radius = ratio * (places.length > 150 ? 3.6 : 5);
    places.forEach((place, node) => {
      pen.fillStyle = CLASS_COLOURS[this.labels[node]];
      pen.beginPath();
      pen.arc(...at(place), radius, 0, 2 * Math.PI);
      pen.fill();
    });
  }

  close() {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    offThemeChange(this.redraw);
  }
}
