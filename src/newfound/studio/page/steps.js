/** The first visit: three steps that tick themselves off. */

import { find, recall, remember } from "./dom.js";

export function startSteps({ store, camera }) {
  const place = find("#steps");
  if (recall("steps") === "done") return;
  let decided = false;
  const close = () => {
    place.hidden = true;
    remember("steps", "done");
  };
  const tick = (step, done) => {
    const item = find(`[data-step=${step}]`, place);
    item.classList.toggle("done", done);
    if (done) item.setAttribute("aria-label", `${item.textContent.trim()} Done.`);
    else item.removeAttribute("aria-label");
  };
  const show = () => {
    if (!store.view) return;
    const { length } = store.view.classes;
    // Whoever opens a model that knows something is not a beginner.
    if (!decided && length > 0) return close();
    if (!decided) place.hidden = false;
    decided = true;
    tick("camera", camera.isOn || length > 0);
    tick("first", length > 0);
    tick("second", length > 1);
    if (length > 1 && !place.hidden) setTimeout(close, 6000);
  };
  find("#steps-close").addEventListener("click", close);
  store.addEventListener("change", show);
  camera.addEventListener("on", show);
}
