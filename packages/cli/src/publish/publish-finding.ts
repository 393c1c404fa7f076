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

/**
 * Codes about the registry, about the package of npm and about addresses. They do not concern a bundle, which contains
 * everything that it needs.
 */
const BESIDE_BUNDLE: ReadonlySet<string> = new Set([
  ...["nothing-to-install", "name-missing", "name-invalid", "mcp-name-missing", "mcp-name-differs"],
  ...["description-length", "title-length", "meta-size", "meta-dropped", "member-old"],
  ...["package-without-bin", "bin-without-shebang", "local-dependency"],
  ...["package-invalid", "package-version-missing", "package-registry"],
  ...["transport-invalid", "remote-invalid", "url-variable", "mcpb-url-invalid", "mcpb-url-host"],
]);

/** True if a bundle may not be written because of the finding, or would differ by it. */
export function concernsBundle({ code }: PublishFinding): boolean {
  return !BESIDE_BUNDLE.has(code);
}

/** Returns the findings for a bundle without `server.json`. A note replaces those that concern only `server.json`. */
export function bundleFindings(findings: readonly PublishFinding[]): PublishFinding[] {
  return findings.flatMap((finding) => {
    if (concernsBundle(finding)) return [finding];
    if (finding.code !== "nothing-to-install") return [];
    return [
      { ...finding, severity: "note", message: "server.json is left out: the server has no package and no address" },
    ];
  });
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
