import type { ProgressNotificationParams } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import type { Style } from "../terminal/style.js";
import { joinText, show, type TerminalText } from "../terminal/terminal-text.js";

const BAR_COLUMNS = 24;

/**
 * Runs a request and shows its progress: as a bar on a terminal, otherwise as lines, but only with `--debug`. The bar
 * is removed when the request ends.
 */
export async function withProgress<T>(
  { terminal, options }: Pick<Invocation, "terminal" | "options">,
  run: (onProgress: (progress: ProgressNotificationParams) => void) => Promise<T>,
): Promise<T> {
  const { status, noteStyle } = terminal;
  const debug = options.flag("debug");
  try {
    return await run((progress) => {
      if (status.visible) status.set(progressLine(progress, noteStyle));
      else if (debug) terminal.note(progressLine(progress, noteStyle));
    });
  } finally {
    status.set(undefined);
  }
}

function progressLine({ progress, total, message }: ProgressNotificationParams, style: Style): TerminalText {
  const words = typeof message === "string" && message !== "" ? show`  ${message}` : show``;
  const known = typeof total === "number" && total > 0 && Number.isFinite(progress);
  if (!known) return joinText([show`${style.cyan("…")} ${progress}`, words]);
  const share = Math.min(1, Math.max(0, progress / total));
  const full = Math.round(share * BAR_COLUMNS);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  const bar = joinText([style.cyan("━".repeat(full)), style.dim("─".repeat(BAR_COLUMNS - full))]);
  return joinText([bar, show` ${percent} %`, words]);
}
