import type { Severity } from "@parley/mcp/lint";
import type { Terminal } from "../terminal/terminal.js";
import { show } from "../terminal/terminal-text.js";

/** A mistake or a remark about the files of a published server. `docs/cli-publish.md` lists every code. */
export interface PublishFinding {
  readonly code: string;
  readonly severity: Severity;
  /** The file and the member in it: `server.json packages[0].version`. */
  readonly place: string;
  readonly message: string;
  readonly fix: string;
}

/** Returns the number of findings of each severity. */
export function countFindings(findings: readonly PublishFinding[]): Record<Severity, number> {
  const counts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

/** Prints findings, errors first. */
export function printFindings(terminal: Terminal, findings: readonly PublishFinding[]): void {
  const { red, yellow, dim } = terminal.style;
  const styles = { error: red, warning: yellow, note: dim };
  const sorted = (["error", "warning", "note"] as const).flatMap((kind) =>
    findings.filter(({ severity }) => severity === kind),
  );
  for (const { code, severity, place, message, fix } of sorted) {
    terminal.print(show`${styles[severity](severity)} ${code}  ${dim(place)}`);
    terminal.print(show`  ${message}`);
    terminal.print(show`  ${dim("fix:")} ${fix}`);
  }
}
