/** A short word at the foot of the page, with a way back where there is one. */

import { find, make } from "./dom.js";

const TIME = 7000;

export class Toast {
  #place = find("#toast");
  #timer = 0;
  #position = null;          // the undo on offer is for this entry of the journal, and no later one

  /** @param {{onUndo?: () => void, position?: number, danger?: boolean}} [options] */
  show(text, { onUndo, position = null, danger = false } = {}) {
    clearTimeout(this.#timer);
    this.#position = position;
    const body = make("div", { class: danger ? "body danger" : "body" }, make("p", { text }));
    if (onUndo) {
      body.append(make("button", {
        type: "button", text: "Undo", onclick: () => {
          this.hide();
          onUndo();
        },
      }));
    }
    this.#place.replaceChildren(body);
    this.#timer = setTimeout(() => this.hide(), TIME);
  }

  /** Something else happened since: "Undo" would take back the wrong thing. */
  outdate(position) {
    if (this.#position !== null && position > this.#position) this.hide();
  }

  hide() {
    clearTimeout(this.#timer);
    this.#position = null;
    this.#place.replaceChildren();
  }
}
