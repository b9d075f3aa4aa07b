/** An import of examples, whoever began it: how far it is, and a button that stops it. */

import { post } from "./api.js";
import { find, make, say } from "./dom.js";

export function startImporting({ store, toast }) {
  const place = find("#importing");
  const [words, bar] = [make("p"), make("progress", { "aria-label": "Images imported" })];
  const stop = make("button", { type: "button", class: "quiet", text: "Stop" });
  stop.addEventListener("click", async () => {
    stop.disabled = true;
    try {
      await post("/api/import/stop", {});
    } catch (trouble) {
      stop.disabled = false;
      toast.show(trouble.message, { danger: true });
    }
  });
  place.append(make("div", { class: "line" }, words, bar, stop));
  store.addEventListener("change", () => {
    const { importing } = store.view;
    place.hidden = !importing;
    if (!importing) {
      stop.disabled = false;
      return;
    }
    bar.max = importing.of;
    bar.value = importing.done;
    say(words, `Importing: ${importing.done} of ${importing.of} images`);
  });
}
