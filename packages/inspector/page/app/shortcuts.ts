import { signal } from "@preact/signals";
import { currentView } from "../backend/page-state.js";
import { VIEW_LIST } from "./view-list.js";

/** How long `g` waits for the key of a view. */
const SEQUENCE_MS = 1_500;

/** Whether the keys are being explained. */
export const helpShown = signal(false);

let goSince = Number.NEGATIVE_INFINITY;

const FIELDS = "input, textarea, select, [contenteditable]";

/** Whether typing belongs to what has the focus. */
const isTyping = (target: EventTarget | null) => target instanceof Element && target.closest(FIELDS) !== null;

/** Does what a key stands for, wherever the focus is. Fields and dialogs keep their keys. Lists must hear it later: they know `k` too. */
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
