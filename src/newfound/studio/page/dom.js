/** Elements, keys and small memories that every part of the page needs. */

/** @returns {any} the first element that fits; a typo in a selector shows at the start. */
export function find(selector, root = document) {
  const element = root.querySelector(selector);
  if (!element) throw new Error(`There is no ${selector} on the page.`);
  return element;
}

/**
 * Make an element. Text is only ever set as text: names come from outside.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] `text`, `class`, `data` and `on…` are special
 * @param {...(Node|string|null)} children
 * @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** One of the symbols in index.html. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Set text only where it differs: a screen reader hears every write, and layout pays for it. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A name for one edit. randomUUID needs a secure page; the studio may be opened without one. */
export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** 100 % is said of certainty only: nearly sure is 99 %. */
export function percent(share) {
  const most = share < 0.9995 ? 99 : 100;
  return `${Math.min(most, Math.max(0, Math.round(100 * share)))} %`;
}

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export function recall(name) {
  try { return localStorage.getItem(`newfound.${name}`); } catch { return null; }
}

export function remember(name, value) {
  try { localStorage.setItem(`newfound.${name}`, value); } catch { /* Then it is asked again. */ }
}

/** Is a person writing here? Then letters, digits and spaces are theirs. */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches("textarea, select")) return true;
  return target.matches("input:not([type=button], [type=checkbox], [type=radio], [type=file])");
}
