/** The map of what is taken for what: a row is what it was, a column what the model would say. */

import { ask } from "./api.js";
import { find, make, plural, say } from "./dom.js";

const REST = 1000;
const MOST = 10;             // classes in the map; of more, those that are confused most

export function startConfusions(store) {
  let position = null;
  let timer = 0;
  const place = find("#confusions");
  const refresh = async () => {
    timer = 0;
    if (document.hidden || place.hidden) return;
    const found = await ask("/api/confusions").catch(() => null);
    if (found) draw(found);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(refresh, REST);
  };
  store.addEventListener("change", () => {
    place.hidden = store.view.classes.length < 2;
    if (store.view.position === position) return;
    position = store.view.position;
    later();
  });
  document.addEventListener("visibilitychange", later);
}

/** @param {{classes: string[], pairs: {label: string, said: string, count: number}[]}} found */
function draw({ classes, pairs }) {
  const wrong = pairs.filter((pair) => pair.label !== pair.said && pair.count > 0)
    .sort((a, b) => b.count - a.count);
  const totals = new Map(classes.map((label) => [label, 0]));
  for (const { label, count } of pairs) totals.set(label, (totals.get(label) ?? 0) + count);
  say(find("#confusions-said"), sentence(wrong[0], totals, pairs.length));
  const shown = choose(classes, wrong);
  const name = (label, said) => JSON.stringify([label, said]);
  const counts = new Map(pairs.map((pair) => [name(pair.label, pair.said), pair.count]));
  const cell = (label, said) => {
    const count = counts.get(name(label, said)) ?? 0;
    const box = make("td", {
      class: label === said ? "right" : "wrong", text: count ? `${count}` : "·",
      title: `${label}: taken for ${said} ${plural(count, "time")} of ${totals.get(label)}`,
    });
    box.style.setProperty("--share", `${count / Math.max(1, totals.get(label))}`);
    return box;
  };
  say(find("#map-note"), noteOf(shown, classes));
  find("#confusions .map").replaceChildren(make("table", { "aria-describedby": "map-note" },
    make("caption", { class: "unseen", text: "What is confused with what" }),
    make("thead", {}, make("tr", {}, make("td", { class: "corner" }),
      ...shown.map((said) => make("th", { scope: "col", title: said },
        make("span", { text: said }))))),
    make("tbody", {}, ...shown.map((label) => make("tr", {},
      make("th", { scope: "row", text: label, title: label }),
      ...shown.map((said) => cell(label, said)))))));
}

function choose(classes, wrong) {
  if (classes.length <= MOST) return classes;
  const chosen = new Set();
  for (const { label, said } of wrong) if (chosen.size < MOST) chosen.add(label).add(said);
  for (const label of classes) if (chosen.size < MOST) chosen.add(label);
  return classes.filter((label) => chosen.has(label)).slice(0, MOST);
}

function noteOf(shown, classes) {
  const rows = "Rows: what it was. Columns: what the model says without that example.";
  if (shown.length === classes.length) return rows;
  return `${rows} The ${shown.length} classes confused most.`;
}

function sentence(worst, totals, asked) {
  if (!asked) return "No example is kept that could be asked.";
  if (!worst) return "Nothing is taken for anything else.";
  const { label, said, count } = worst;
  return `${label} is taken for ${said} ${count} of ${totals.get(label)} times.`;
}
