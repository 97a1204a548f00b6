// Light or dark: as the system says, until one is chosen here.

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

export const onThemeChange = (listener) => listeners.add(listener);
export const offThemeChange = (listener) => listeners.delete(listener);

function current() {
  return localStorage.getItem("theme") ?? (system.matches ? "dark" : "light");
}

export function setUpTheme(button) {
  const show = () => {
    document.documentElement.dataset.theme = current();
    button.textContent = current() === "dark" ? "☀" : "☾";
    listeners.forEach((listener) => listener());
  };
  button.addEventListener("click", () => {
    localStorage.setItem("theme", current() === "dark" ? "light" : "dark");
    show();
  });
  system.addEventListener("change", show);
  show();
}
