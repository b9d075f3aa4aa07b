/**
 * Edits on their way, one after the other. An edit keeps its key until the server has answered it:
 * if the connection breaks it is sent again, and the server does it once.
 */

import { post, postBytes } from "./api.js";
import { newKey, pause } from "./dom.js";
import { oneMore } from "./store.js";

const same = (classes) => classes;

export class Outbox extends EventTarget {
  #live; #store;
  #last = Promise.resolve();
  waiting = 0;

  constructor(live, store) {
    super();
    this.#live = live;
    this.#store = store;
    // A page that is closed would lose what was not acknowledged: the browser asks first.
    addEventListener("beforeunload", (event) => {
      if (this.waiting > 0 && !live.isOpen) event.preventDefault();
    });
  }

  /** A camera's frame, over the WebSocket. @returns {Promise<any>} Done, with `answer` */
  lesson({ label, image, action, key = newKey() }) {
    return this.#add(() => this.#live.teach({ label, key, action, image }), oneMore(label));
  }

  /** A file, whole: it may be larger than a message of the WebSocket. */
  file({ label, file, action, key = newKey() }) {
    const query = new URLSearchParams({ label, key, action });
    return this.#add(() => postBytes(`/api/lessons?${query}`, file), oneMore(label));
  }

  /** Any other edit. @param {(classes: any[]) => any[]} [change] what to show meanwhile */
  edit(path, body = {}, change = same) {
    const key = newKey();
    return this.#add(() => post(path, { ...body, key }), change);
  }

  /** To empty the bin twice is to empty it once: it needs no key. */
  emptyBin() { return this.#add(() => post("/api/empty-bin", {}), same); }

  #add(send, change) {
    const expected = this.#store.expect(change);
    this.#count(1);
    const edit = this.#last.then(() => this.#deliver(send)).then((done) => {
      expected.settle(done.position);
      if (done.state) this.#store.accept(done.state);
      return done;
    }, (trouble) => {
      expected.drop();
      throw trouble;
    }).finally(() => this.#count(-1));
    this.#last = edit.catch(() => {});
    return edit;
  }

  async #deliver(send) {
    for (let tries = 0; ; tries += 1) {
      await this.#live.opened();
      try {
        const done = await send();
        this.#busy("");
        return done;
      } catch (trouble) {
        if (!trouble.retry) throw trouble;
        if (trouble.status !== 0) this.#busy(trouble.message, tries);
        // After a broken fetch the WebSocket may not have noticed yet: a pause, then its word.
        await pause(Math.min(2000, 200 * 2 ** tries));
        if (trouble.status === 401) this.#live.doubt();
      }
    }
  }

  /** @param {string} sentence why the server cannot take it now; empty: it can */
  #busy(sentence, tries = 0) {
    this.dispatchEvent(new CustomEvent("busy", { detail: { sentence, tries } }));
  }

  #count(by) {
    this.waiting += by;
    this.dispatchEvent(new Event("waiting"));
  }
}
