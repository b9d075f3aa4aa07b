/** Images from files, dropped, pasted or picked: one after the other. */

import { question } from "./dialogs.js";
import { find, make, newKey, plural, say } from "./dom.js";
import { filesIn, filesOf } from "./files.js";

// The service's own limit. It would hang up in the middle, and that looks like a server gone.
const MOST = 16 * 2 ** 20;

export class Upload {
  #parts;
  #place = find("#upload");
  #queue = Promise.resolve();

  /** @param {{outbox: any, store: any, figures: any, currentLabel: () => string}} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#listenToDrops();
    addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      this.teach(files.map((file) => ({ file, label: null, name: file.name })));
    });
    for (const id of ["#pick-images", "#pick-folder"]) {
      const input = find(id);
      input.addEventListener("change", () => {
        this.teach(filesIn(input.files));
        input.value = "";
      });
    }
    find("#add-images").addEventListener("click", () => find("#pick-images").click());
  }

  #listenToDrops() {
    const sheet = find("#drop");
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      const label = this.#parts.currentLabel();
      say(find("p", sheet), label
        ? `Drop images of ${label}, or folders: a folder's name becomes the class.`
        : "Drop images or folders. A folder's name becomes the class.");
      sheet.hidden = false;
    });
    addEventListener("dragleave", (event) => { if (!event.relatedTarget) sheet.hidden = true; });
    addEventListener("drop", async (event) => {
      sheet.hidden = true;
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.teach(await filesOf(event.dataTransfer));
    });
  }

  /** @param {import("./files.js").Found[]} found */
  async teach(found) {
    if (found.length === 0) return this.#report("There are no images in that.", []);
    const label = found.some((one) => one.label === null) ? await this.#ask(found) : "";
    if (label === null) return;
    const named = found.map((one) => ({ ...one, label: one.label ?? label }));
    // A second drop waits for the first: each batch is one thing to undo.
    this.#queue = this.#queue.then(() => this.#run(named));
    return this.#queue;
  }

  async #ask(found) {
    const loose = found.filter((one) => one.label === null).length;
    const typed = this.#parts.currentLabel() || await question({
      title: loose === 1 ? "What is in this image?" : `What is in these ${loose} images?`,
      yes: "Teach", field: { label: "Name", list: "labels" },
    });
    return typed && this.#parts.store.labelLike(typed);
  }

  async #run(files) {
    const action = newKey();
    const [bar, words] = [make("progress", { max: files.length, value: 0 }), make("p")];
    bar.setAttribute("aria-label", "Images learned");
    let stopped = false;
    const stop = make("button", {
      type: "button", class: "quiet", text: "Stop", onclick: () => { stopped = true; },
    });
    this.#place.hidden = false;
    this.#place.replaceChildren(make("div", { class: "line" }, words, bar, stop));
    const counts = { taught: 0, known: 0 };
    const problems = [];
    for (const [i, { file, label, name }] of files.entries()) {
      if (stopped) break;
      say(words, `Learning ${i + 1} of ${files.length}: ${name}`);
      try {
        if (file.size > MOST) throw new Error("It is larger than 16 MB.");
        const done = await this.#parts.outbox.file({ label, file, action });
        counts[done.examples.length || done.repeated ? "taught" : "known"] += 1;
        this.#parts.figures.lesson(done.milliseconds);
      } catch (trouble) {
        problems.push({ name, reason: trouble.message });
      }
      bar.value = i + 1;
    }
    const [label, other] = new Set(files.map((one) => one.label));
    const only = other === undefined ? label : "";
    this.#report(summary(counts, problems, stopped, only), problems);
  }

  /** Also for an import: what was learned, and by name what was not. */
  #report(sentence, problems) {
    const line = make("div", { class: "line" }, make("p", { text: sentence }), make("button", {
      type: "button", class: "quiet", text: "Close", onclick: () => { this.#place.hidden = true; },
    }));
    this.#place.hidden = false;
    this.#place.replaceChildren(line);
    if (problems.length) {
      this.#place.append(make("ul", { class: "problems" }, ...problems.map(({ name, reason }) =>
        make("li", {}, make("b", { text: name }), ` ${reason}`))));
    }
  }

  imported({ taught, known, problems, left, stopped }) {
    const sentence = summary({ taught, known }, problems, false);
    const rest = stopped ? ` ${left} not looked at: ${stopped}.` : "";
    this.#report(sentence + rest, problems);
  }

  working(sentence) { this.#report(sentence, []); }
}

/** @param {string} [label] what all of them are, if that is one thing */
function summary({ taught, known }, problems, stopped, label = "") {
  const parts = [`${plural(taught, "image")} learned${label && ` as ${label}`}`];
  if (known) parts.push(`${known} known already`);
  if (problems.length) parts.push(`${problems.length} not learned`);
  return `${stopped ? "Stopped. " : ""}${parts.join(", ")}.`;
}
