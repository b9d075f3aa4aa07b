/** The camera: which one, what it shows, and the square of it that is looked at. */

import { find, make, recall, remember } from "./dom.js";

const SIDE = 224;            // what the default network takes: it need not scale a frame again
const QUALITY = 0.85;
const SHARE = 0.88;          // of the shorter side: the margin shows that there is more

/** Events: "on", "off" (detail: the name of the error, or "ended"). */
export class Camera extends EventTarget {
  #video = find("#video");
  #stage = find("#stage");
  #square = find("#square");
  #choice = find("#camera");
  #canvas = make("canvas");
  #stream = null;
  #starting = 0;

  constructor() {
    super();
    this.#canvas.width = this.#canvas.height = SIDE;
    this.#choice.addEventListener("change", () => {
      remember("camera", this.#choice.value);
      this.start();
    });
    this.#video.addEventListener("loadedmetadata", () => this.#frame());
    this.#video.addEventListener("resize", () => this.#frame());
    new ResizeObserver(() => this.#frame()).observe(this.#stage);
    navigator.mediaDevices?.addEventListener("devicechange", () => {
      if (this.#stream) this.#devices();
      else if (this.#stage.dataset.state === "off") this.start();
    });
  }

  get isOn() { return this.#stream !== null && this.#video.readyState >= 2; }

  async start() {
    const start = (this.#starting += 1);
    this.#stop();
    if (!navigator.mediaDevices?.getUserMedia) return this.#off("InsecureError");
    this.#stage.dataset.state = "starting";
    try {
      const stream = await this.#open(recall("camera"));
      if (start !== this.#starting) return stream.getTracks().forEach((track) => track.stop());
      this.#stream = stream;
      this.#video.srcObject = stream;
      const [track] = stream.getVideoTracks();
      track.addEventListener("ended", () => this.#stream === stream && this.#off("ended"));
      this.#stage.classList.toggle("mirrored", isFront(track));
      await this.#video.play();
      await this.#devices();
      this.#stage.dataset.state = "on";
      this.dispatchEvent(new Event("on"));
    } catch (error) {
      // AbortError comes from play() when another start has begun meanwhile.
      if (start === this.#starting) this.#off(error.name);
    }
  }

  async #open(deviceId) {
    const size = { width: { ideal: 640 }, height: { ideal: 480 }, frameRate: { ideal: 30 } };
    const open = (video) => navigator.mediaDevices.getUserMedia({ video, audio: false });
    if (!deviceId) return open({ ...size, facingMode: { ideal: "environment" } });
    try {
      return await open({ ...size, deviceId: { exact: deviceId } });
    } catch (error) {
      // The camera of last time is not plugged in: any other will do.
      if (!["OverconstrainedError", "NotFoundError"].includes(error.name)) throw error;
      return open(size);
    }
  }

  async #devices() {
    const all = await navigator.mediaDevices.enumerateDevices();
    const cameras = all.filter((device) => device.kind === "videoinput");
    const current = this.#stream?.getVideoTracks()[0]?.getSettings().deviceId;
    this.#choice.replaceChildren(...cameras.map((device, i) => make("option", {
      value: device.deviceId, text: device.label || `Camera ${i + 1}`,
    })));
    this.#choice.disabled = cameras.length === 0;
    if (cameras.length === 0) this.#choice.append(make("option", { text: "No camera" }));
    if (current) this.#choice.value = current;
  }

  #stop() {
    this.#stream?.getTracks().forEach((track) => track.stop());
    this.#stream = null;
    this.#video.srcObject = null;
  }

  #off(why) {
    this.#stop();
    this.#stage.dataset.state = "off";
    if (navigator.mediaDevices) this.#devices().catch(() => {});
    this.dispatchEvent(new CustomEvent("off", { detail: why }));
  }

  /** The square in the video's own pixels. What is cut off on the page does not count. */
  #region() {
    const { videoWidth: width, videoHeight: height } = this.#video;
    const { clientWidth, clientHeight } = this.#stage;
    const scale = Math.max(clientWidth / width, clientHeight / height);
    const side = SHARE * Math.min(width, height, clientWidth / scale, clientHeight / scale);
    return { x: (width - side) / 2, y: (height - side) / 2, side, scale };
  }

  #frame() {
    if (!this.#video.videoWidth || !this.#stage.clientWidth) return;
    const { side, scale } = this.#region();
    this.#square.style.width = this.#square.style.height = `${side * scale}px`;
  }

  /** @returns {Promise<Blob|null>} the square as a JPEG; null without a picture */
  async capture() {
    if (!this.isOn || !this.#video.videoWidth) return null;
    const { x, y, side } = this.#region();
    const canvas = this.#canvas.getContext("2d", { alpha: false });
    canvas.imageSmoothingQuality = "high";
    canvas.drawImage(this.#video, x, y, side, side, 0, 0, SIDE, SIDE);
    return new Promise((resolve) => this.#canvas.toBlob(resolve, "image/jpeg", QUALITY));
  }
}

/** People expect a mirror from a camera that looks at them, and only from that one. */
function isFront(track) {
  const { facingMode } = track.getSettings();
  if (facingMode) return facingMode === "user";
  return /front|facetime|integrated|built-?in/i.test(track.label);
}
