/** The thumbnails of one class: newest first, in pages, each with a way out. */

import { ask } from "./api.js";
import { icon, make } from "./dom.js";

const FIRST = 10;
const MORE = 30;
const MOST = 100;            // the service's own limit on a page

export class Examples {
  element = make("ul", { class: "examples" });
  #more = make("button", {
    type: "button", class: "more", text: "Show more", hidden: true, onclick: () => this.#page(),
  });
  #label; #actions;
  #figures = new Map();      // id -> element
  #next = null;
  #asked = 0;
  footer = this.#more;

  /** @param {string} label @param {{remove: Function, move: Function}} actions */
  constructor(label, actions) {
    this.#label = label;
    this.#actions = actions;
    this.element.setAttribute("aria-label", `Examples of ${label}`);
  }

  /** Fetch what is shown once more; figures that stay are not touched. */
  async refresh() {
    const asked = (this.#asked += 1);
    const limit = Math.min(MOST, Math.max(FIRST, this.#figures.size));
    const page = await this.#fetch({ limit });
    if (!page || asked !== this.#asked) return;
    const ids = new Set(page.examples.map((one) => one.id));
    for (const [id, figure] of this.#figures) if (!ids.has(id)) this.#drop(id, figure);
    page.examples.forEach((one, i) => {
      const figure = this.#figures.get(one.id) ?? this.#make(one);
      if (this.element.children[i] !== figure) {
        this.element.insertBefore(figure, this.element.children[i] ?? null);
      }
    });
    this.#turn(page.next);
  }

  async #page() {
    const before = this.#next;
    this.#more.setAttribute("aria-busy", "true");
    const page = await this.#fetch({ limit: MORE, before });
    this.#more.removeAttribute("aria-busy");
    if (!page) return;
    for (const one of page.examples) {
      if (!this.#figures.has(one.id)) this.element.append(this.#make(one));
    }
    this.#turn(page.next);
  }

  async #fetch(query) {
    const parameters = new URLSearchParams({ label: this.#label, ...query });
    // A page that did not come is asked for at the next change; the cards stay as they are.
    return ask(`/api/examples?${parameters}`).catch(() => null);
  }

  #turn(next) {
    this.#next = next;
    this.#more.hidden = next === null;
  }

  #make({ id, time, source, thumbnail }) {
    const label = this.#label;
    const taught = `${new Date(time * 1000).toLocaleString()}${source ? `, ${source}` : ""}`;
    const picture = thumbnail
      ? make("img", {
        loading: "lazy", decoding: "async", alt: `Example of ${label}, ${taught}`, title: taught,
        width: 72, height: 72, src: `/api/examples/${id}/thumbnail`, draggable: "false",
      })
      : make("span", { class: "blank", text: "no picture", title: taught });
    const figure = make("li", { data: { id } }, picture, make("div", { class: "actions" },
      make("button", {
        type: "button", "aria-label": `Move this example of ${label}`,
        title: "Move to another class",
        onclick: () => this.#leave(id, figure, this.#actions.move(id, label, figure)),
      }, icon("move")),
      make("button", {
        type: "button", "aria-label": `Delete this example of ${label}`, title: "Delete",
        onclick: () => this.#remove(id, figure),
      }, icon("trash"))));
    this.#figures.set(id, figure);
    return figure;
  }

  #remove(id, figure) {
    // The focus would fall back to the page's top with the button it was on.
    const neighbour = figure.nextElementSibling ?? figure.previousElementSibling;
    if (figure.contains(document.activeElement)) {
      neighbour?.querySelector("button:last-child")?.focus();
    }
    this.#leave(id, figure, this.#actions.remove(id, this.#label, figure));
  }

  /** @param {Promise<boolean>} leaving whether it went */
  async #leave(id, figure, leaving) {
    if (await leaving) this.#drop(id, figure);
    else figure.classList.remove("going");
  }

  #drop(id, figure) {
    figure.remove();
    this.#figures.delete(id);
  }
}
