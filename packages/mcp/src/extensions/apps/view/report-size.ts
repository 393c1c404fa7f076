import type { UiSize } from "../../../protocol/features/apps.js";
import type { ViewWindow } from "./view-window.js";

/** Reports the size of the page's content now and when it changes, at most once for each frame of the display. */
export function reportSize(window: ViewWindow, report: (size: UiSize) => void): () => void {
  const { ResizeObserver, document } = window;
  const { documentElement: root, body } = document;
  let last = "";
  let waiting = false;
  let ended = false;
  const measure = () => {
    waiting = false;
    if (ended) return;
    // A root as high as its frame would never shrink again, so its content is measured.
    const before = root.style.height;
    root.style.height = "max-content";
    const { height } = root.getBoundingClientRect();
    root.style.height = before;
    const size = { width: Math.ceil(root.scrollWidth), height: Math.ceil(height) };
    const text = `${size.width}x${size.height}`;
    if (text !== last) report(size);
    last = text;
  };
  const changed = () => {
    if (!waiting) window.requestAnimationFrame(measure);
    waiting = true;
  };
  changed();
  const observer = ResizeObserver === undefined ? undefined : new ResizeObserver(changed);
  // Safe: they are elements of this window.
  for (const element of [root, body]) if (element !== null) observer?.observe(element as never);
  return () => {
    ended = true;
    observer?.disconnect();
  };
}
