/** The loop of looks: a frame goes out when the answer to the one before is here. */

import { find, pause, say } from "./dom.js";

const INTERVAL = 1000 / 15;
const IDLE = 120;

/**
 * @param {object} parts
 * @param {() => boolean} parts.isTeaching lessons have answers of their own
 * @param {(answer: any, image: Blob) => void} parts.show
 */
export async function startLooking({ camera, live, isTeaching, show }) {
  for (;;) {
    const began = performance.now();
    const may = camera.isOn && live.isOpen && !document.hidden && !isTeaching();
    const image = may ? await camera.capture() : null;
    if (!image) {
      await pause(IDLE);
      continue;
    }
    try {
      show(await live.look(image), image);
    } catch (trouble) {
      // The next frame is as good as this one; the connection says for itself when it is lost.
      await pause(trouble.retry ? 500 : IDLE);
    }
    await pause(Math.max(0, INTERVAL - (performance.now() - began)));
  }
}

/** Frames a second and milliseconds a lesson, as means of what came last. */
export class Figures {
  #frames = [];
  #lessons = [];

  constructor() {
    setInterval(() => this.#showFrames(), 500);
  }

  frame() { this.#frames.push(performance.now()); }

  lesson(milliseconds) {
    this.#lessons = [...this.#lessons.slice(-9), milliseconds];
    const mean = this.#lessons.reduce((a, b) => a + b) / this.#lessons.length;
    say(find("#lesson-ms"), mean < 10 ? mean.toFixed(1) : `${Math.round(mean)}`);
  }

  #showFrames() {
    const now = performance.now();
    this.#frames = this.#frames.filter((time) => now - time < 2000);
    say(find("#fps"), this.#frames.length ? `${Math.round(this.#frames.length / 2)}` : "–");
  }
}
