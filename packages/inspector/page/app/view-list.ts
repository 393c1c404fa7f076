import type { ViewId } from "../backend/page-state.js";

/** A view as the tabs, the keys and the title name it. */
export interface ViewEntry {
  readonly id: ViewId;
  readonly title: string;
  /** The key that goes there after `g`. */
  readonly key: string;
  /** Whether a file without an inspector has it. */
  readonly shared: boolean;
}

/** The views in the order of their tabs, which `Alt` with a figure follows. */
export const VIEW_LIST: readonly ViewEntry[] = [
  { id: "server", title: "Server", key: "s", shared: true },
  { id: "use", title: "Use", key: "u", shared: false },
  { id: "timeline", title: "Timeline", key: "t", shared: true },
  { id: "model", title: "Model", key: "m", shared: false },
  { id: "eras", title: "Eras", key: "e", shared: false },
  { id: "session", title: "Session", key: "k", shared: false },
];
