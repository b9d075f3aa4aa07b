/** Puts the parts together. Each part gets what it needs, and nothing is global. */

import { Announcer } from "./announce.js";
import { Answers } from "./answers.js";
import { Camera } from "./camera.js";
import { Classes } from "./classes.js";
import { startConfusions } from "./confusions.js";
import { startImporting } from "./importing.js";
import { Inbox } from "./inbox.js";
import { Live } from "./live.js";
import { Figures, startLooking } from "./look.js";
import { startMenu, startTheme } from "./menu.js";
import { Outbox } from "./outbox.js";
import { startSteps } from "./steps.js";
import { Store } from "./store.js";
import { Teacher } from "./teach.js";
import { Toast } from "./toast.js";
import { handInToken, startCameraTroubles, startServerTroubles } from "./troubles.js";
import { Undo } from "./undo.js";
import { Upload } from "./upload.js";

const store = new Store();
const live = new Live();
const outbox = new Outbox(live, store);
const camera = new Camera();
const toast = new Toast();
const figures = new Figures();
const announcer = new Announcer();
const undo = new Undo({ store, outbox, toast });
const complain = (sentence) => toast.show(sentence, { danger: true });

const answers = new Answers(store, async (label, image) => {
  toast.show(`Taught this picture as ${label}.`);
  try {
    const done = await outbox.lesson({ label, image });
    if (done.examples.length) {
      const way = { position: done.position, onUndo: () => undo.undo() };
      toast.show(`Taught this picture as ${label}.`, way);
    } else toast.show(`It has this picture as ${label} already.`);
    figures.lesson(done.milliseconds);
  } catch (trouble) {
    complain(trouble.message);
  }
});

function show(answer, image) {
  figures.frame();
  answers.show(answer, image);
  announcer.answer(answer);
}

const teacher = new Teacher({
  camera, outbox, store, onTrouble: complain,
  onLesson: (done, image) => {
    figures.lesson(done.milliseconds);
    if (done.answer) show(done.answer, image);
  },
});

new Classes({ store, outbox, toast, undo, choose: (label) => teacher.choose(label) });
new Inbox({ store, outbox, toast, undo });
const upload = new Upload({ outbox, store, figures, currentLabel: () => teacher.label });

startTheme();
startMenu({ store, outbox, toast, upload });
startImporting({ store, toast });
startSteps({ store, camera });
startConfusions(store);
startCameraTroubles(camera);
startServerTroubles({ live, outbox });

live.addEventListener("state", ({ detail }) => store.accept(detail.state, detail.first));
live.addEventListener("status", () => {
  if (!live.isOpen) answers.clear("Waiting", "for the server.");
});
camera.addEventListener("off", () => {
  answers.clear("No picture", "Start the camera, or add images.");
});

camera.start();
const token = handInToken();
if (token) await live.signIn(token).catch(() => {});   // a wrong one is asked for again
live.start();
startLooking({ camera, live, isTeaching: () => teacher.isTeaching, show });
