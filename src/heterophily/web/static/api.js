// The server: requests that end in data or in one sentence, and jobs that tell as they go.

async function answer(response) {
  if (response.status === 204) return null;
  const content = await response.json().catch(() => ({ error: `the server answered ${response.status}` }));
  if (!response.ok) throw new Error(content.error ?? `the server answered ${response.status}`);
  return content;
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is heterophily serve still running?");
  }
  return answer(response);
}

export const get = (path) => ask(path);
export const remove = (path) => ask(path, { method: "DELETE" });
export const send = (path, form) => ask(path, { method: "POST", body: form });
export const post = (path, content, signal) =>
  ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: content === undefined ? undefined : JSON.stringify(content),
    signal,
  });

let known = null;
export const getKnown = () => (known ??= get("/api/known"));

// Follow a job; `handlers` maps the names of events to functions of their data. The browser comes
// back by itself after an interruption and goes on where it was. Returns a function that stops.
export function follow(job, handlers) {
  const source = new EventSource(`/api/jobs/${job}/events`);
  for (const [name, handler] of Object.entries(handlers)) {
    if (name !== "end") source.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  }
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) handlers.state?.({ state: "failed", error: "the server no longer has this job; load the page again" });
  };
  source.addEventListener("end", () => { source.close(); handlers.end?.(); });
  return () => source.close();
}
