/**
 * What the page knows of the model: the server's last state, and on top of it what was asked for
 * and is not answered yet, so that every action shows at once.
 */

/** @typedef {{label: string, count: number, kept: number, going?: boolean}} Class */
/** @typedef {{model: string, position: number, classes: Class[], undo: string|null,
 *   redo: string|null, cannot_tell_unknown: string|null, bin: number, questions: number,
 *   importing: {done: number, of: number}|null}} State */

export class Store extends EventTarget {
  /** @type {State|null} the server's truth */
  server = null;
  /** @type {State|null} the truth with what is expected */
  view = null;
  // Each: {change, position}. position is null until the server has said which entry it became;
  // the expectation goes when a state of that position is here, not before: no count steps back.
  #expected = new Set();

  /** @param {State} state @param {boolean} first the first state of a connection always counts */
  accept(state, first = false) {
    if (!first && this.server && state.position < this.server.position) return;
    this.server = state;
    for (const one of this.#expected) {
      // A new connection's state has all that was answered before it.
      const isIn = one.position !== null && (first || one.position <= state.position);
      if (isIn) this.#expected.delete(one);
    }
    this.#show();
  }

  /**
   * Show a change before the server has made it.
   * @param {(classes: Class[]) => Class[]} change
   * @returns {{settle: (position: number) => void, drop: () => void}}
   */
  expect(change) {
    const one = { change, position: null };
    this.#expected.add(one);
    this.#show();
    const drop = () => { if (this.#expected.delete(one)) this.#show(); };
    const settle = (position) => {
      one.position = position;
      if (this.server && position <= this.server.position) drop();
    };
    return { settle, drop };
  }

  #show() {
    if (!this.server) return;
    let classes = this.server.classes.map((one) => ({ ...one }));
    for (const { change } of this.#expected) classes = change(classes);
    this.view = { ...this.server, classes };
    this.dispatchEvent(new Event("change"));
  }

  get labels() {
    return this.view ? this.view.classes.map((one) => one.label) : [];
  }

  /** A typed name means the class that is spelt like it, whatever the case, if there is one. */
  labelLike(text) {
    const wanted = this.labels.includes(text) ? text : text.trim();
    if (this.labels.includes(wanted)) return wanted;
    const alike = this.labels.filter((label) => label.toLowerCase() === wanted.toLowerCase());
    return alike.length === 1 ? alike[0] : wanted;
  }
}

/** One more example of a label. A new class stands where the server's order would put it. */
export const oneMore = (label) => (classes) => {
  const known = classes.find((one) => one.label === label);
  if (known) {
    known.count += 1;
    return classes;
  }
  const sorted = classes.every((one, i) => i === 0 || classes[i - 1].label < one.label);
  const place = sorted ? classes.findIndex((one) => one.label > label) : -1;
  return classes.toSpliced(place < 0 ? classes.length : place, 0, { label, count: 1, kept: 1 });
};

export const oneLess = (label) => (classes) => {
  for (const one of classes) if (one.label === label) one.count -= 1;
  return classes;
};

export const goes = (label) => (classes) =>
  classes.map((one) => (one.label === label ? { ...one, going: true } : one));
