/** Undo and redo: the buttons say what they would do, Ctrl-Z and Ctrl-Y do it. */

import { find, isTyping } from "./dom.js";

export class Undo {
  #outbox; #toast;

  constructor({ store, outbox, toast }) {
    this.#outbox = outbox;
    this.#toast = toast;
    find("#undo").addEventListener("click", () => this.undo());
    find("#redo").addEventListener("click", () => this.redo());
    store.addEventListener("change", () => {
      show(find("#undo"), "Undo", store.view.undo, "Ctrl-Z");
      show(find("#redo"), "Redo", store.view.redo, "Ctrl-Shift-Z");
      toast.outdate(store.view.position);
    });
    addEventListener("keydown", (event) => this.#key(event));
  }

  undo() { return this.#go(find("#undo"), "/api/undo", "Undoing …"); }

  redo() { return this.#go(find("#redo"), "/api/redo", "Doing it again …"); }

  #key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) this.redo();
    else this.undo();
  }

  async #go(button, path, words) {
    button.setAttribute("aria-busy", "true");
    this.#toast.show(words);
    try {
      const done = await this.#outbox.edit(path);
      this.#toast.show(`${done.what[0].toUpperCase()}${done.what.slice(1)}.`);
    } catch (trouble) {
      this.#toast.show(trouble.message, { danger: true });
    } finally {
      button.removeAttribute("aria-busy");
    }
  }
}

function show(button, word, what, keys) {
  button.disabled = what === null;
  button.setAttribute("aria-label", what === null ? word : `${word}: ${what}`);
  button.title = what === null ? `Nothing to ${word.toLowerCase()}` : `${word}: ${what} (${keys})`;
}
