/** What was seen and not known: pictures of it, a field for its name, and a way to let it go. */

import { ask } from "./api.js";
import { find, make, plural, say } from "./dom.js";

const MOST = 12;             // questions on the page; the others come when these are answered

const blank = () => make("span", { class: "blank", text: "no picture" });

export class Inbox {
  #place = find("#questions");
  #parts;
  #count = 0;                // of questions, when those on the page were asked for

  /** @param {any} parts store, outbox, toast, undo */
  constructor(parts) {
    this.#parts = parts;
    parts.store.addEventListener("change", () => this.#show(parts.store.server));
  }

  async #show({ questions }) {
    find("#inbox").hidden = questions === 0;
    say(find("#inbox-said"), `It did not know ${plural(questions, "thing")}.`);
    if (questions === this.#count) return;
    this.#count = questions;
    if (questions === 0) return this.#place.replaceChildren();
    const found = await ask(`/api/questions?limit=${MOST}`).catch(() => null);
    if (questions !== this.#count) return;
    if (found) this.#update(found.questions);
    else this.#count = -1;   // they did not come: they are asked for again with the next change
  }

  /** Cards that stay keep what is typed in them. */
  #update(questions) {
    const cards = new Map([...this.#place.children].map((card) => [card.dataset.id, card]));
    const wanted = questions.map((one) => cards.get(`${one.id}`) ?? this.#card(one));
    for (const card of this.#place.children) if (!wanted.includes(card)) this.#leave(card);
    wanted.forEach((card, i) => {
      if (this.#place.children[i] !== card) {
        this.#place.insertBefore(card, this.#place.children[i] ?? null);
      }
    });
  }

  #card({ id, time, source, guess, frames }) {
    const when = new Date(time * 1000).toLocaleString();
    const input = make("input", {
      id: `question-${id}`, type: "text", list: "labels", maxlength: 200, required: true,
      autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    });
    const card = make("section", { data: { id }, "aria-label": `Seen ${when}` },
      make("ul", { class: "examples" }, ...frames.map((frame, i) => make("li", {}, make("img", {
        loading: "lazy", decoding: "async", width: 72, height: 72, draggable: "false",
        alt: `Picture ${i + 1} of ${frames.length}`, src: `/api/examples/${frame}/thumbnail`,
        onerror: ({ target }) => target.replaceWith(blank()),
      })))),
      make("p", { class: "note", text: `${when}${source ? `, ${source}` : ""}` }),
      make("form", {
        onsubmit: (event) => {
          event.preventDefault();
          this.#name(card, this.#parts.store.labelLike(input.value));
        },
      },
      make("div", { class: "field" }, make("label", {
        for: input.id, text: guess === null ? "Name" : `Name (nearest: ${guess})`,
      }), input),
      make("div", { class: "buttons" },
        make("button", { type: "submit", class: "primary", text: "Teach" }),
        make("button", {
          type: "button", class: "quiet", text: "Dismiss", onclick: () => this.#dismiss(card),
        }))));
    return card;
  }

  #name(card, label) {
    const { undo, toast } = this.#parts;
    const words = `Taught what it saw as ${label}.`;
    return label && this.#answer(card, "name", { label }, words, (done) => {
      if (!done.examples.length) return toast.show(`It has all of this as ${label} already.`);
      return toast.show(words, { position: done.position, onUndo: () => undo.undo() });
    });
  }

  #dismiss(card) { return this.#answer(card, "dismiss", {}, "Dismissed.", () => {}); }

  async #answer(card, what, body, words, then) {
    const { outbox, toast } = this.#parts;
    card.classList.add("going");
    toast.show(words);
    try {
      then(await outbox.edit(`/api/questions/${card.dataset.id}/${what}`, body));
    } catch (trouble) {
      card.classList.remove("going");
      toast.show(trouble.message, { danger: true });
    }
  }

  /** The focus goes on to the next question: it would fall back to the page's top. */
  #leave(card) {
    const neighbour = card.nextElementSibling ?? card.previousElementSibling;
    if (card.contains(document.activeElement)) neighbour?.querySelector("input").focus();
    card.remove();
  }
}
