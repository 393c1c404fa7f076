import { signal } from "@preact/signals";
import { currentView } from "../backend/page-state.js";
import { VIEW_LIST } from "./view-list.js";

/** Maximum time between `g` and the key of a view. */
const SEQUENCE_MS = 1_500;

/** True while the dialog with the shortcuts is open. */
export const helpShown = signal(false);

let goSince = Number.NEGATIVE_INFINITY;

const FIELDS = "input, textarea, select, [contenteditable]";

/** True if the event comes from a form field, in which keys without Alt are not shortcuts. */
const isTyping = (target: EventTarget | null) => target instanceof Element && target.closest(FIELDS) !== null;

/**
 * Runs the shortcut of a key, wherever the focus is. In a form field only Alt with a digit is a shortcut. An open
 * dialog receives every key unchanged. Must be registered in the capture phase, so that it runs before lists handle
 * `k`.
 */
export function onShortcut(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey) return;
  if (document.querySelector("dialog[open]") !== null) return;
  if (event.altKey) {
    const view = VIEW_LIST[Number(event.code.replace("Digit", "")) - 1];
    if (view === undefined) return;
    currentView.value = view.id;
  } else if (isTyping(event.target) || !pressed(event.key, event.timeStamp)) return;
  event.preventDefault();
  event.stopPropagation();
}

function pressed(key: string, now: number): boolean {
  const view = VIEW_LIST.find((one) => one.key === key);
  const going = now - goSince < SEQUENCE_MS;
  goSince = key === "g" ? now : Number.NEGATIVE_INFINITY;
  if (going && view !== undefined) currentView.value = view.id;
  else if (key === "?") helpShown.value = true;
  else if (key === "/") return focusSearch();
  else return false;
  return true;
}

function focusSearch(): boolean {
  const box = document.querySelector<HTMLInputElement>("main input[type=search]");
  box?.focus();
  box?.select();
  return box !== null;
}
