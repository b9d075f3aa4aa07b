/** The menu: export and import, the bin, and the colours of the page. */

import { ask, postBytes } from "./api.js";
import { question } from "./dialogs.js";
import { find, newKey, plural, remember, say } from "./dom.js";

export function startMenu({ store, outbox, toast, upload }) {
  const panel = find("#menu-panel");
  const pick = (id) => find(id).click();
  const actions = {
    "add-images": () => pick("#pick-images"),
    "add-folder": () => pick("#pick-folder"),
    "import-model": () => pick("#pick-model"),
    "import-examples": () => pick("#pick-zip"),
    "empty-bin": () => emptyBin({ store, outbox, toast }),
  };
  panel.addEventListener("click", (event) => {
    const item = event.target.closest("a, button");
    if (!item) return;
    panel.hidePopover();
    actions[item.dataset.do]?.();
  });
  store.addEventListener("change", () => {
    const { bin, model, extractor, version } = store.view;
    const button = find("#empty-bin");
    say(button, bin ? `Empty bin (${bin}) …` : "The bin is empty");
    button.disabled = !bin;
    say(find("#model"), model);
    document.title = `${model} · newfound studio`;
    // The extractor's name is enough here; the settings behind it are for `newfound inspect`.
    const network = extractor?.split(" (")[0];
    say(find("#about"), [`newfound ${version}`, network].filter(Boolean).join(" · "));
  });
  onPick("#pick-model", (file) => importModel(file, { store, toast }));
  onPick("#pick-zip", (file) => importExamples(file, { store, upload, toast }));
}

function onPick(id, act) {
  const input = find(id);
  input.addEventListener("change", () => {
    const [file] = input.files;
    input.value = "";
    if (file) act(file);
  });
}

async function emptyBin({ store, outbox, toast }) {
  const yes = await question({
    title: "Empty the bin?", yes: "Forget for good", danger: true,
    text: `${plural(store.view.bin, "deleted example")} and the pictures leave the file. `
      + "This cannot be undone, and neither can what was done before it.",
  });
  if (yes === null) return;
  toast.show("Emptying the bin …");
  try {
    await outbox.emptyBin();
    toast.show("The bin is empty.");
  } catch (trouble) {
    toast.show(trouble.message, { danger: true });
  }
}

async function importModel(file, { store, toast }) {
  const yes = await question({
    title: `Take ${file.name} instead?`, yes: "Import",
    text: "It takes the place of what is taught now. Undo brings that back.",
  });
  if (yes === null) return;
  toast.show(`Importing ${file.name} …`);
  try {
    const { state } = await postBytes(`/api/import/model?key=${newKey()}`, file);
    store.accept(state ?? await ask("/api/state"));
    toast.show(`Imported ${file.name}.`);
  } catch (trouble) {
    toast.show(trouble.message, { danger: true });
  }
}

async function importExamples(file, { store, upload, toast }) {
  upload.working(`Importing ${file.name} …`);
  try {
    const result = await postBytes("/api/import/examples", file, "application/zip");
    store.accept(result.state);
    upload.imported(result);
  } catch (trouble) {
    upload.working(trouble.message);
    toast.show(trouble.message, { danger: true });
  }
}

/** The page follows the system until somebody says otherwise. */
export function startTheme() {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => {
    find("#theme").setAttribute("aria-pressed", `${isDark()}`);
    const colour = getComputedStyle(document.body).backgroundColor;
    find("meta[name=theme-color]").setAttribute("content", colour);
  };
  find("#theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember("theme", root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  show();
}
