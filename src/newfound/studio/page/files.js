/** Files out of a drop, a paste or a picker, each with the label its folder gives it. */

/** @typedef {{file: File, label: string|null, name: string}} Found label null: no folder says */

const IMAGE = /\.(jpe?g|png|webp|gif|bmp|tiff?|avif|heic)$/i;

const isHidden = (name) => name.startsWith(".") || name === "Thumbs.db" || name === "__MACOSX";

/**
 * Call it within the event: entries are gone when the handler returns.
 * @param {DataTransfer} transfer @returns {Promise<Found[]>}
 */
export async function filesOf(transfer) {
  const entries = [...transfer.items]
    .filter((item) => item.kind === "file")
    .map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const found = [];
  for (const entry of entries) {
    if (entry instanceof File) found.push({ file: entry, label: null, name: entry.name });
    else if (entry) await walk(entry, [], found);
  }
  return found;
}

/** @param {FileList} list of an <input type="file">, with or without webkitdirectory */
export function filesIn(list) {
  const found = [];
  for (const file of list) {
    const path = (file.webkitRelativePath || file.name).split("/");
    const folders = path.slice(0, -1);
    const label = folders[1] ?? folders[0] ?? null;
    if (path.some(isHidden) || (label !== null && !looksLikeImage(file))) continue;
    found.push({ file, label, name: path.join("/") });
  }
  return found;
}

/** As on the command line, a folder is a class, and a folder of folders holds several. */
async function walk(entry, folders, found) {
  if (isHidden(entry.name)) return;
  const label = folders[1] ?? folders[0] ?? null;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    const name = entry.fullPath.replace(/^\//, "");
    // A folder of photos holds other things as well; a file dropped by itself was meant.
    if (label === null || looksLikeImage(file)) found.push({ file, label, name });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // readEntries gives a hundred at a time, and none at the end.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const child of some) await walk(child, [...folders, entry.name], found);
  }
}

function looksLikeImage(file) {
  return file.type.startsWith("image/") || IMAGE.test(file.name);
}
