/** The classes as cards: name, count, thumbnails, and everything that can be done to them. */

import { question } from "./dialogs.js";
import { find, icon, make, plural, say } from "./dom.js";
import { Examples } from "./examples.js";
import { goes, oneLess, oneMore } from "./store.js";

const LOPSIDED = 5;
const REST = 600;            // milliseconds between two fetches of thumbnails
const [yes, no] = [() => true, () => false];

export class Classes {
  #place = find("#classes");
  #cards = new Map();        // label -> {section, examples, count, fresh, visible, …}
  #parts;
  #timer = 0;
  #position = -1;
  #watcher = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: "200px" });

  /** @param {any} parts store, outbox, toast, undo, and `choose(label)` */
  constructor(parts) {
    this.#parts = parts;
    parts.store.addEventListener("change", () => this.#show(parts.store.view));
  }

  #show({ classes, position }) {
    const labels = classes.map((one) => one.label);
    const before = [...this.#cards].map(([label, card]) => label + card.count).join();
    for (const [label, card] of this.#cards) {
      if (labels.includes(label)) continue;
      this.#watcher.unobserve(card.section);
      card.section.remove();
      this.#cards.delete(label);
    }
    classes.forEach((one, i) => {
      if (!this.#cards.has(one.label)) this.#cards.set(one.label, this.#card(one.label));
      const card = this.#cards.get(one.label);
      this.#update(card, one, i);
      if (this.#place.children[i] !== card.section) {
        this.#place.insertBefore(card.section, this.#place.children[i] ?? null);
      }
    });
    find("#no-classes").hidden = classes.length > 0;
    say(find("#lopsided"), lopsided(classes));
    const title = classes.length ? plural(classes.length, "class", "classes") : "Classes";
    say(find("#classes-title"), title);
    const after = [...this.#cards].map(([label, card]) => label + card.count).join();
    if (position === this.#position) return;
    this.#position = position;
    // Something changed and no count did: two examples may have changed places.
    if (before === after) for (const card of this.#cards.values()) card.fresh = false;
    this.#refreshSoon();
    find("#labels").replaceChildren(...labels.map((value) => make("option", { value })));
  }

  #update(card, { count, kept, going = false }, i) {
    say(card.key, i < 9 ? `${i + 1}` : "");
    card.key.hidden = i >= 9;
    card.key.title = `Hold ${i + 1} to teach`;
    say(card.number, plural(count, "example"));
    card.section.classList.toggle("going", going);
    card.section.toggleAttribute("inert", going);
    say(card.note, kept === 0 ? "Taught elsewhere: no pictures are kept." : "");
    if (card.count !== `${count}/${kept}`) card.fresh = false;
    card.count = `${count}/${kept}`;
  }

  #card(label) {
    const tool = (name, words, act) => make("button", {
      type: "button", class: "icon small", "aria-label": `${words} ${label}`, title: words,
      onclick: act,
    }, icon(name));
    const card = {
      key: make("kbd", { class: "key", "aria-hidden": "true" }),
      number: make("span", { class: "number" }),
      note: make("p", { class: "note" }),
      examples: new Examples(label, {
        remove: (id, from, figure) => this.#delete(id, from, figure),
        move: (id, from, figure) => this.#move(id, from, figure),
      }),
      fresh: false, visible: false, count: "", section: null,
    };
    card.section = make("section", { data: { label }, "aria-label": label },
      make("header", {}, card.key,
        make("h3", {}, make("button", {
          type: "button", class: "choose", text: label, title: `Teach more of ${label}`,
          onclick: () => this.#parts.choose(label),
        })), card.number,
        tool("pencil", "Rename", () => this.#rename(label)),
        tool("trash", "Delete class", () => this.#deleteClass(label))),
      card.examples.element, card.note, card.examples.footer);
    this.#watcher.observe(card.section);
    return card;
  }

  #seen(entries) {
    for (const { target, isIntersecting } of entries) {
      const card = this.#cards.get(target.dataset.label);
      if (!card || card.section !== target) continue;
      card.visible = isIntersecting;
      if (isIntersecting && !card.fresh) this.#refreshSoon(0);
    }
  }

  /** While lessons stream in, thumbnails follow at a walk. */
  #refreshSoon(delay = REST) {
    if (this.#timer && delay) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      for (const card of this.#cards.values()) {
        if (!card.visible || card.fresh) continue;
        card.fresh = true;
        card.examples.refresh();
      }
    }, delay);
  }

  /** Send an edit, say what it did, offer the way back. Overwrites nothing if it fails. */
  async #edit(path, body, change, words) {
    const { outbox, toast, undo } = this.#parts;
    toast.show(words);
    try {
      const done = await outbox.edit(path, body, change);
      toast.show(words, { position: done.position, onUndo: () => undo.undo() });
      return done;
    } catch (trouble) {
      toast.show(trouble.message, { danger: true });
      throw trouble;
    }
  }

  async #delete(id, label, figure) {
    figure.classList.add("going");
    const words = `Deleted an example of ${label}.`;
    return this.#edit("/api/forget", { examples: [id] }, oneLess(label), words).then(yes, no);
  }

  async #move(id, label, figure) {
    const others = this.#parts.store.labels.filter((one) => one !== label);
    const typed = await question({
      title: "Move to which class?", choices: others, yes: "Move",
      field: { label: others.length ? "Or a new one" : "Name of the class" },
    });
    const to = typed && this.#parts.store.labelLike(typed);
    if (!to || to === label) return false;
    figure.classList.add("going");
    const change = (classes) => oneMore(to)(oneLess(label)(classes));
    const words = `Moved from ${label} to ${to}.`;
    return this.#edit("/api/move", { examples: [id], label: to }, change, words).then(yes, no);
  }

  async #rename(label) {
    const typed = await question({
      title: `Rename ${label}`, yes: "Rename", field: { label: "New name", value: label },
    });
    if (!typed || typed === label) return;
    if (this.#parts.store.labels.includes(typed)) return this.#join(label, typed);
    try {
      const words = `Renamed ${label} to ${typed}.`;
      await this.#edit("/api/rename", { old: label, new: typed }, goes(label), words);
      this.#focus(typed);
    } catch (trouble) {
      // Somebody else made that class a moment ago.
      if (trouble.status === 409) await this.#join(label, typed);
    }
  }

  async #join(label, into) {
    const agreed = await question({
      title: `Join ${label} and ${into}?`, yes: "Join",
      text: `There is a class ${into} already. All examples of ${label} become its examples.`,
    });
    if (agreed === null) return;
    const words = `Joined ${label} and ${into}.`;
    await this.#edit("/api/join", { old: label, into }, goes(label), words).catch(no);
    this.#focus(into);
  }

  async #deleteClass(label) {
    const words = `Deleted the class ${label}.`;
    await this.#edit("/api/forget", { label }, goes(label), words).catch(no);
  }

  #focus(label) {
    if (document.activeElement !== document.body) return;
    this.#cards.get(label)?.section.querySelector(".choose").focus();
  }
}

/** @returns {string} a hint where one class has far more examples than another; or nothing */
function lopsided(classes) {
  if (classes.length < 2) return "";
  const sorted = classes.toSorted((a, b) => a.count - b.count);
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  if (most.count <= LOPSIDED * Math.max(1, least.count)) return "";
  return `${most.label} has ${most.count}, ${least.label} has ${least.count}: `
    + `show ${least.label} more.`;
}
