/**
 * The WebSocket: frames out, answers in, and its own recovery. One frame is on its way at a time;
 * whoever waits for an answer is told when the connection breaks.
 */

import { ask, post, Trouble } from "./api.js";
import { pause } from "./dom.js";

const LOST = () => new Trouble("The server is gone.", { retry: true });
const DELAYS = [300, 700, 1500, 3000, 5000];
// A server that says nothing for so long while it owes an answer is treated as gone.
const PATIENCE = 20_000;
// Seconds after which a frame counts half in the answer: one that is blurred does not change it.
const SMOOTH = 0.5;

/**
 * Events: "state" (detail: state, and whether it is the connection's first), "status".
 * status: connecting, open, lost (no answer), token (it wants one), refused, full.
 */
export class Live extends EventTarget {
  status = "connecting";
  sentence = "";
  #socket = null;
  #frames = 0;
  #look = null;              // {frame, resolve, reject} of the frame on its way
  #lessons = new Map();      // id -> {resolve, reject}
  #lesson = 0;
  #tries = 0;
  #wake = () => {};          // ends the pause before the next try
  #heard = 0;

  start() {
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => document.hidden || this.retry());
    setInterval(() => this.#watch(), 2000);
    this.#connect();
  }

  /** Try now, instead of when the pause is over. */
  retry() { this.#wake(); }

  /** Something else was refused: connect anew, and find out why. */
  doubt() { if (this.isOpen) this.#socket.close(); }

  get isOpen() { return this.status === "open"; }

  /** Resolves when messages can be sent. */
  opened() {
    if (this.isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      const check = () => {
        if (!this.isOpen) return;
        this.removeEventListener("status", check);
        resolve();
      };
      this.addEventListener("status", check);
    });
  }

  async signIn(token) {
    await post("/api/session", { token });
    this.retry();
  }

  /** @param {Blob} image @returns {Promise<any>} the Answer */
  look(image) {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(LOST());
      this.#frames += 1;
      this.#look = { frame: this.#frames, resolve, reject };
      this.#sends(image);
    });
  }

  /** @returns {Promise<any>} Done, with the answer from before the lesson */
  async teach({ label, key, action, image }) {
    const id = `c${(this.#lesson += 1)}`;
    const text = JSON.stringify(
      { type: "teach", id, label, key, action, image: await base64Of(image) });
    return new Promise((resolve, reject) => {
      if (!this.isOpen) return reject(LOST());
      this.#lessons.set(id, { resolve, reject });
      this.#sends(text);
    });
  }

  #sends(message) {
    if (!this.#owed) this.#heard = performance.now();
    this.#socket.send(message);
  }

  get #owed() { return this.#look !== null || this.#lessons.size > 0; }

  #watch() {
    if (!this.isOpen) return;
    if (!this.#owed) this.#heard = performance.now();
    if (performance.now() - this.#heard > PATIENCE) this.#socket.close();
  }

  #connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/api/live?smooth=${SMOOTH}`);
    this.#socket = socket;
    this.#frames = 0;
    let first = true;
    socket.onmessage = ({ data }) => {
      this.#heard = performance.now();
      let message;
      try { message = JSON.parse(data); } catch { return; }
      if (message.type === "state") {
        this.#tries = 0;
        this.dispatchEvent(new CustomEvent("state", { detail: { state: message, first } }));
        first = false;
        this.#become("open");
      } else this.#take(message);
    };
    socket.onclose = (event) => this.#lost(event);
  }

  #take(message) {
    if (message.type === "answer" && this.#look && message.frame >= this.#look.frame) {
      const { resolve } = this.#look;
      this.#look = null;
      resolve(message);
    } else if (message.type === "done") this.#settle(message.id, "resolve", message);
    else if (message.type === "error") {
      const trouble = new Trouble(message.error, { status: 400, retry: message.retry });
      if (message.id) this.#settle(message.id, "reject", trouble);
      else if (this.#look) {
        const { reject } = this.#look;
        this.#look = null;
        reject(trouble);
      }
    }
  }

  #settle(id, how, value) {
    const waiting = this.#lessons.get(id);
    this.#lessons.delete(id);
    waiting?.[how](value);
  }

  async #lost(event) {
    const wasOpen = this.isOpen;
    this.#become(...(await this.#diagnose(event, wasOpen)));
    this.#look?.reject(LOST());
    this.#look = null;
    for (const { reject } of this.#lessons.values()) reject(LOST());
    this.#lessons.clear();
    // Without a token there is nothing to try until one is given.
    const next = DELAYS[Math.min(this.#tries, DELAYS.length - 1)];
    const delay = this.status === "token" ? 3_600_000 : next;
    this.#tries += 1;
    await Promise.race([pause(delay), new Promise((resolve) => { this.#wake = resolve; })]);
    this.#wake = () => {};
    this.#connect();
  }

  /** A browser does not say why a WebSocket was refused; the same server's state does. */
  async #diagnose({ code, reason }, wasOpen) {
    if (code === 1013 || code === 4429) return ["full", reason];
    if (wasOpen) this.#become("lost");
    try {
      await ask("/api/state", { signal: AbortSignal.timeout(4000) });
    } catch (trouble) {
      if (trouble.status === 401) return ["token", trouble.message];
      if (trouble.status === 403) return ["refused", trouble.message];
      if (trouble.status === 429 || trouble.status === 503) return ["full", trouble.message];
      return ["lost", ""];
    }
    return wasOpen || this.#tries < 1 ? ["lost", ""] : ["full", reason];
  }

  #become(status, sentence = "") {
    if (status === this.status && sentence === this.sentence) return;
    this.status = status;
    this.sentence = sentence;
    this.dispatchEvent(new Event("status"));
  }
}

async function base64Of(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  // In pieces: fromCharCode takes its characters as arguments, and there is a limit on those.
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}
