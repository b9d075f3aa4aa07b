/** The answer for a screen reader: only when it changed, and not faster than one can listen. */

import { find, say } from "./dom.js";

const REST = 1500;

export class Announcer {
  #region = find("#live");
  #said = "";
  #next = "";
  #last = -REST;
  #timer = 0;

  answer(answer) {
    if (answer.label === null) return;
    this.#next = answer.known ? answer.label : "Unknown";
    if (this.#next === this.#said || this.#timer) return;
    const wait = Math.max(0, this.#last + REST - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      // What it is by now: it may have changed back meanwhile.
      if (this.#next === this.#said) return;
      this.#said = this.#next;
      this.#last = performance.now();
      say(this.#region, this.#said);
    }, wait);
  }
}
