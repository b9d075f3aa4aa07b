/** Teaching while something is held: the button, the space bar, or a key from 1 to 9. */

import { find, isTyping, newKey, pause, say } from "./dom.js";

const INTERVAL = 1000 / 15;

export class Teacher {
  #parts;
  #name = find("#name");
  #button = find("#teach");
  #problem = find("#name-problem");
  #hold = null;              // {label, action, by, sent, taught, known} while something is held
  #byPointer = false;
  #quiet = 0;

  /**
   * @param {object} parts
   * @param {import("./camera.js").Camera} parts.camera
   * @param {import("./outbox.js").Outbox} parts.outbox
   * @param {import("./store.js").Store} parts.store
   * @param {(done: any, image: Blob) => void} parts.onLesson
   * @param {(sentence: string) => void} parts.onTrouble
   */
  constructor(parts) {
    this.#parts = parts;
    this.#listenToButton();
    this.#listenToKeys();
    this.#name.addEventListener("input", () => this.#showName());
    this.#name.addEventListener("keydown", (event) => {
      // Enter ends the typing: from there on space teaches.
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        if (this.label) this.#button.focus();
      }
    });
    parts.store.addEventListener("change", () => this.#showName());
  }

  get isTeaching() { return this.#hold !== null; }

  get label() { return this.#parts.store.labelLike(this.#name.value); }

  choose(label) {
    this.#name.value = label;
    this.#showName();
  }

  #listenToButton() {
    const button = this.#button;
    let held = false;
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();      // no text selection, and the name field keeps its keyboard away
      button.focus({ preventScroll: true, focusVisible: false });
      button.setPointerCapture(event.pointerId);
      held = true;
      this.begin(this.label, "pointer");
    });
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
      button.addEventListener(type, () => {
        this.end("pointer");
        setTimeout(() => { held = false; });      // after the click that follows, if one does
      });
    }
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    button.addEventListener("click", () => {
      // Screen readers and switches press without a pointer: that is one lesson.
      if (!held) {
        this.begin(this.label, "click");
        this.end("click");
      }
    });
  }

  #listenToKeys() {
    addEventListener("pointerdown", () => { this.#byPointer = true; }, true);
    addEventListener("keydown", (event) => {
      if (event.key === "Tab") this.#byPointer = false;
      const label = this.#meant(event);
      if (label === null) return;
      event.preventDefault();
      if (!event.repeat) this.begin(label, event.code);
    });
    addEventListener("keyup", (event) => {
      // Firefox presses a button when space is let go, whatever became of the key's way down.
      const isOurs = this.#hold?.by === event.code || event.target === this.#button;
      if (isOurs && event.code === "Space") event.preventDefault();
      this.end(event.code);
    });
    addEventListener("blur", () => this.end());
    document.addEventListener("visibilitychange", () => this.end());
  }

  /** @returns {string|null} the label a key stands for; null: the key is not ours */
  #meant(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return null;
    if (event.isComposing || isTyping(event.target)) return null;
    if (document.querySelector("dialog[open], :popover-open")) return null;
    if (event.code === "Space") return this.#spaceIsOurs(event.target) ? this.label : null;
    if (event.key === "Enter") return event.target === this.#button ? this.label : null;
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
    return digit ? this.#parts.store.labels[Number(digit[1]) - 1] ?? null : null;
  }

  /** Space presses the button that keyboard focus is on. After a click the focus means nothing. */
  #spaceIsOurs(target) {
    if (target === this.#button || target === document.body) return true;
    return this.#byPointer || !target.closest("a, button, summary, [tabindex]");
  }

  begin(label, by) {
    if (this.#hold) return;
    if (!label) return this.#complain("Type a name first.", true);
    if (!this.#parts.camera.isOn) {
      return this.#complain("There is no picture to learn from. Start the camera, or add images.");
    }
    this.#complain("");
    const hold = { label, by, action: newKey(), sent: 0, taught: 0, known: 0 };
    this.#hold = hold;
    if (by !== "pointer" || this.#name.value.trim() !== label) this.choose(label);
    document.body.classList.add("teaching");
    this.#showHold(hold);
    this.#teach(hold);
  }

  end(by = this.#hold?.by) {
    if (!this.#hold || this.#hold.by !== by) return;
    const hold = this.#hold;
    this.#hold = null;
    document.body.classList.remove("teaching");
    this.#showHold(hold);
  }

  async #teach(hold) {
    do {
      const began = performance.now();
      const image = await this.#parts.camera.capture();
      if (!image) break;
      hold.sent += 1;
      this.#showHold(hold);
      try {
        const { label, action } = hold;
        const done = await this.#parts.outbox.lesson({ label, action, image });
        if (done.examples.length || done.repeated) hold.taught += 1;
        else hold.known += 1;
        this.#parts.onLesson(done, image);
      } catch (trouble) {
        this.#parts.onTrouble(trouble.message);
        break;
      }
      this.#showHold(hold);
      await pause(Math.max(0, INTERVAL - (performance.now() - began)));
    } while (this.#hold === hold);
    if (this.#hold === hold) this.end();
    this.#showHold(hold, true);
  }

  /** The button says what is happening; when a hold is over, for a moment what came of it. */
  #showHold(hold, over = false) {
    if (this.#hold && this.#hold !== hold) return;
    clearTimeout(this.#quiet);
    const [words, what, count] = this.#button.children;
    this.#button.classList.toggle("held", this.#hold === hold);
    count.hidden = false;
    say(what, hold.label);
    say(count, `${over ? hold.taught : hold.sent}`);
    if (over && hold.taught === 0 && hold.known > 0) say(words, "Known already:");
    else if (over) say(words, "Taught");
    else say(words, this.#hold === hold ? "Teaching" : "Sending");
    if (over) this.#quiet = setTimeout(() => this.#rest(), 1600);
  }

  #rest() {
    say(find(".words", this.#button), "Hold to teach");
    find(".count", this.#button).hidden = true;
    this.#showName();
  }

  #showName() {
    if (this.#name.value.trim()) this.#complain("");
    if (find(".count", this.#button).hidden) say(find(".what", this.#button), this.label);
    for (const card of document.querySelectorAll("#classes > section")) {
      card.classList.toggle("chosen", card.dataset.label === this.label);
    }
  }

  #complain(sentence, aboutName = false) {
    say(this.#problem, sentence);
    this.#name.setAttribute("aria-invalid", `${aboutName}`);
    if (aboutName) this.#name.focus();
  }
}
