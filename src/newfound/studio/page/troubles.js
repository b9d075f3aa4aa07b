/** A sentence for each trouble, with what to do next. */

import { question } from "./dialogs.js";
import { find, say } from "./dom.js";

const CAMERA = {
  NotAllowedError: "The camera is not allowed. "
    + "Allow it in the browser's address bar, then try again.",
  NotFoundError: "There is no camera. Plug one in and try again, or add images.",
  NotReadableError: "Another program uses the camera. Close that program, then try again.",
  InsecureError: "Browsers give a camera to secure pages only. "
    + "Open the studio at http://localhost or over https.",
  OverconstrainedError: "That camera cannot give a picture. Choose another one, then try again.",
  ended: "The camera was unplugged or switched off. Plug it in, then try again.",
};
CAMERA.SecurityError = CAMERA.NotAllowedError;
CAMERA.AbortError = CAMERA.NotReadableError;

export function startCameraTroubles(camera) {
  const place = find("#camera-trouble");
  const again = find("button", place);
  again.addEventListener("click", () => camera.start());
  camera.addEventListener("off", ({ detail }) => {
    const other = `The camera does not start (${detail}). Try again, or choose another one.`;
    say(find("p", place), CAMERA[detail] ?? other);
    place.dataset.kind = detail;
    again.hidden = detail === "InsecureError";
  });
}

const SERVER = {
  connecting: ["Connecting", ""],
  open: ["Connected", ""],
  lost: ["No server",
    "The server is gone. Trying again … What you do now is kept and sent when it is back."],
  token: ["Token needed",
    "The studio needs its token. It is in the address that the server printed at its start."],
  refused: ["Refused",
    "The server refuses this page. Open the address that it printed at its start."],
  full: ["Full",
    "Too many pages are open on this server. Close one; this page tries again by itself."],
};

/** The lamp in the header and the banner under it follow the connection. */
export function startServerTroubles({ live, outbox }) {
  const lamp = find("#connection");
  const banner = find("#banner");
  const button = find("button", banner);
  let busy = { sentence: "", tries: 0 };
  let asking = false;

  const askForToken = async () => {
    if (asking) return;
    asking = true;
    let text = SERVER.token[1];
    while (live.status === "token") {
      const field = { label: "Token", type: "password" };
      const token = await question({ title: "Which token?", text, yes: "Go on", field });
      if (token === null) break;
      try {
        await live.signIn(token);
        break;
      } catch (trouble) {
        const wrong = "That token is wrong. Copy it once more from the server's address.";
        text = trouble.status === 401 ? wrong : trouble.message;
      }
    }
    asking = false;
  };

  const show = () => {
    const isBusy = live.isOpen && busy.sentence !== "";
    const waits = outbox.waiting > 0 ? ` · ${outbox.waiting} waiting` : "";
    let [words, sentence] = SERVER[live.status];
    if (isBusy) words = "Busy: lessons wait their turn";
    else if (!live.isOpen) words += waits;
    // A moment of it is nothing to read about.
    if (isBusy && busy.tries > 3) sentence = `${busy.sentence} It is sent again by itself.`;
    lamp.dataset.state = isBusy ? "busy" : live.status;
    say(find(".words", lamp), words);
    lamp.title = words;
    banner.hidden = !sentence;
    say(find("p", banner), sentence);
    say(button, live.status === "token" ? "Enter the token" : "Try now");
  };
  button.addEventListener("click", () => (live.status === "token" ? askForToken() : live.retry()));
  live.addEventListener("status", () => {
    show();
    if (live.status === "token") askForToken();
  });
  outbox.addEventListener("waiting", show);
  outbox.addEventListener("busy", ({ detail }) => {
    busy = detail;
    show();
  });
  show();
}

/** A token that came with the address is handed in once and leaves the address. */
export function handInToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return token;
}
