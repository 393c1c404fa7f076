import type { ProgressNotificationParams } from "@parley/mcp/protocol";
import { joinShown, type Shown, show } from "../terminal/shown.js";
import type { Style } from "../terminal/style.js";
import type { Terminal } from "../terminal/terminal.js";

const BAR_COLUMNS = 24;

/** Shows how far a call is: as a bar on a terminal, as lines elsewhere with `--debug` alone. */
export function progressListener(terminal: Terminal, debug: boolean): (progress: ProgressNotificationParams) => void {
  if (terminal.status.visible) return (progress) => terminal.status.set(progressLine(progress, terminal.noteStyle));
  if (!debug) return () => {};
  return (progress) => terminal.note(progressLine(progress, terminal.noteStyle));
}

function progressLine({ progress, total, message }: ProgressNotificationParams, style: Style): Shown {
  const said = typeof message === "string" && message !== "" ? show`  ${message}` : show``;
  const known = typeof total === "number" && total > 0 && Number.isFinite(progress);
  if (!known) return joinShown([show`${style.cyan("…")} ${progress}`, said]);
  const share = Math.min(1, Math.max(0, progress / total));
  const full = Math.round(share * BAR_COLUMNS);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  const bar = joinShown([style.cyan("━".repeat(full)), style.dim("─".repeat(BAR_COLUMNS - full))]);
  return joinShown([bar, show` ${percent} %`, said]);
}
