/** Requests to the service. Whatever goes wrong becomes a Trouble with a sentence. */

export class Trouble extends Error {
  /**
   * @param {string} sentence
   * @param {{status?: number, retry?: boolean}} [about] status 0: no answer came;
   *   retry: the same request may go well later
   */
  constructor(sentence, { status = 0, retry = false } = {}) {
    super(asSentence(sentence));
    this.status = status;
    this.retry = retry;
  }
}

/** The server says clauses for logs and programs; people get a sentence. */
function asSentence(clause) {
  const text = clause.trim();
  return text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
}

const SENTENCES = {
  401: "The studio needs its token.",
  403: "The server refuses this page. Open the address it printed at its start.",
  404: "That is not there any more.",
  413: "That file is too large for this server.",
  415: "That is not a kind of file the server takes.",
  422: "The server could not read that.",
  429: "That was too fast for the server. It is sent again.",
  503: "The server is busy. It is sent again.",
};

async function sentenceOf(response) {
  try {
    const { error } = await response.json();
    if (typeof error === "string" && error) return error;
  } catch { /* Not JSON: a proxy's page, perhaps. */ }
  return SENTENCES[response.status] ?? `The server answered with error ${response.status}.`;
}

/** @returns {Promise<any>} the answer's JSON, or null where there is none */
export async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new Trouble("The server is gone.", { status: 0, retry: true });
  }
  if (!response.ok) {
    const retry = [401, 429, 502, 503, 504].includes(response.status);
    throw new Trouble(await sentenceOf(response), { status: response.status, retry });
  }
  return response.status === 204 ? null : response.json();
}

export function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body) });
}

/** What the bytes are is for the server to find out: names and types of files mislead. */
export function postBytes(path, blob, type = "application/octet-stream") {
  const headers = { "Content-Type": type };
  return ask(path, { method: "POST", headers, body: blob });
}
