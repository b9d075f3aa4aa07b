/** What it sees now: one line in large letters, and a bar for each class in the model's order. */

import { find, icon, make, percent, say } from "./dom.js";

export class Answers {
  #bars = find("#bars");
  #rows = new Map();         // label -> {item, name, share, key}
  #unknown = make("li", { class: "unknown", data: { unknown: "" } },
    make("div", { class: "row" },
      make("span", { class: "key" }), make("span", { class: "name", text: "unknown" }),
      make("span", { class: "track" }, make("span", { class: "fill" })),
      make("span", { class: "share" }), make("span", { class: "mark" })));
  #correct;
  #pressed = null;
  /** @type {{answer: any, image: Blob}|null} the answer on the page, and the frame it is about */
  shown = null;

  /** @param {(label: string, image: Blob) => void} correct */
  constructor(store, correct) {
    this.#correct = correct;
    store.addEventListener("change", () => this.#list(store.view));
  }

  /** The very answer that came last, with no averaging. */
  show(answer, image) {
    this.shown = { answer, image };
    const scores = new Map(answer.top.map((one) => [one.label, one.score]));
    const winner = answer.known ? answer.label : null;
    for (const [label, row] of this.#rows) {
      const score = scores.get(label);
      fill(row.item, score ?? 0, score === undefined ? "–" : percent(score), label === winner);
    }
    const lost = answer.label !== null && !answer.known;
    fill(this.#unknown, answer.unknown, percent(answer.unknown), lost);
    this.#headline(answer, lost);
  }

  /** Without a camera or a server there is no answer, and an old one would be a lie. */
  clear(words, note) {
    this.shown = null;
    const headline = find("#answer");
    headline.dataset.kind = "waiting";
    say(headline, words);
    say(find("#answer-note"), note);
    for (const { item } of this.#rows.values()) fill(item, 0, "–", false);
    fill(this.#unknown, 0, "–", false);
  }

  #headline(answer, lost) {
    if (answer.label === null) {
      return this.clear("Nothing yet", "Teach it a first thing, and it says what it sees.");
    }
    const headline = find("#answer");
    headline.dataset.kind = lost ? "unknown" : "known";
    say(headline, lost ? "Unknown" : answer.label);
    say(find("#answer-note"), lost
      ? `Like nothing it was taught. Closest: ${answer.label}.`
      : `${percent(answer.score)} sure`);
  }

  #list(state) {
    const labels = state.classes.map((one) => one.label);
    for (const [label, { item }] of this.#rows) {
      if (labels.includes(label)) continue;
      item.remove();
      this.#rows.delete(label);
    }
    labels.forEach((label, i) => {
      if (!this.#rows.has(label)) this.#rows.set(label, this.#row(label));
      const { item, key } = this.#rows.get(label);
      say(key, i < 9 ? `${i + 1}` : "");
      const there = this.#bars.children[i] ?? null;
      if (there !== item) this.#bars.insertBefore(item, there);
    });
    const why = state.cannot_tell_unknown;
    this.#unknown.hidden = labels.length === 0 || Boolean(why);
    if (this.#bars.lastElementChild !== this.#unknown) this.#bars.append(this.#unknown);
    say(find("#bars-note"), noteOf(labels.length, why));
  }

  #row(label) {
    const key = make("kbd", { class: "key", "aria-hidden": "true" });
    const button = make("button", {
      class: "row", type: "button", title: `Wrong? Press, and this picture is taught as ${label}.`,
      // The frame that was on the page when the finger went down, not the one a moment later.
      onpointerdown: () => { this.#pressed = this.shown; },
      onclick: () => {
        const { image } = this.#pressed ?? this.shown ?? {};
        this.#pressed = null;
        if (image) this.#correct(label, image);
      },
    }, key, make("span", { class: "unseen", text: "Teach this picture as " }),
    make("span", { class: "name", text: label }),
    make("span", { class: "track" }, make("span", { class: "fill" })),
    make("span", { class: "share", text: "–" }), make("span", { class: "mark" }, icon("check")));
    return { item: make("li", { data: { label } }, button), key };
  }
}

function fill(item, share, words, wins) {
  item.style.setProperty("--share", `${Math.min(1, Math.max(0, share))}`);
  item.classList.toggle("wins", wins);
  say(find(".share", item), words);
}

function noteOf(classes, why) {
  if (classes === 0) return "";
  const correct = classes > 1 ? "Wrong? Press the right name." : "";
  if (!why) return correct;
  const clause = why.replace(/\.$/, "");
  const sentence = /^[a-z]/.test(clause) ? `It cannot tell yet what is unknown: ${clause}` : clause;
  return `${sentence}. ${correct}`.trim();
}
