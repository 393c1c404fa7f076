import type { ViewId } from "../backend/page-state.js";

/** A view with its tab title and its shortcut. */
export interface ViewEntry {
  readonly id: ViewId;
  readonly title: string;
  /** The key that opens the view after `g`. */
  readonly key: string;
  /** True if a shared file has the view too. */
  readonly shared: boolean;
}

/** The views in the order of their tabs. `Alt` with a digit follows the same order. */
export const VIEW_LIST: readonly ViewEntry[] = [
  { id: "server", title: "Server", key: "s", shared: true },
  { id: "use", title: "Use", key: "u", shared: false },
  { id: "timeline", title: "Timeline", key: "t", shared: true },
  { id: "model", title: "Model", key: "m", shared: false },
  { id: "eras", title: "Eras", key: "e", shared: false },
  { id: "session", title: "Session", key: "k", shared: false },
];
