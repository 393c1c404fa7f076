import { type ErrorKind, McpError } from "@parley/mcp";
import { nearestName } from "@parley/mcp/protocol";
import type { Invocation } from "../commands/command.js";
import { changedError } from "../target/open-target.js";
import { UsageError } from "../terminal/usage-error.js";
import type { OpenServer } from "./open-server.js";

/** Maximum number of names listed in a message. Further names are replaced by "…". */
const MAX_NAMES = 20;

/** The error for a name that the server does not have, with a suggestion. */
export function unknownName(kind: string, name: string, known: readonly string[]): McpError {
  return new McpError("invalid_params", `the server has no ${kind} "${name.slice(0, 100)}"`, {
    fix: nameHint(name, known) ?? `The server has no ${kind}s.`,
  });
}

/** Kinds of errors about a name that the server does not have, or about a kind of offer that it does not have. */
const UNKNOWN_KINDS: ReadonlySet<ErrorKind> = new Set([
  "invalid_params",
  "resource_not_found",
  "method_not_found",
  "capability_missing",
]);

/** Settles like `work`. If the server does not have a name and its build is stale, the error says so. */
export async function withBuildAdvice<T>({ build }: OpenServer, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!McpError.is(error) || !UNKNOWN_KINDS.has(error.kind)) throw error;
    const found = build();
    if (found?.state !== "stale") throw error;
    throw changedError(error, error.kind, `${error.fix} ${found.cause}. ${found.fix}`);
  }
}

/** The error for a command line without the name of a tool, resource or prompt. */
export function missingName(
  command: string,
  kind: "tool" | "resource" | "prompt",
  { program }: Pick<Invocation, "program">,
): UsageError {
  if (program.length === 0)
    return new UsageError(`which ${kind}?`, `Run \`parley list <target> ${kind}s\` to see them.`);
  const shown = `${program.slice(0, 2).join(" ")}${program.length > 3 ? " …" : ""}`;
  const word = kind === "resource" ? "uri" : kind;
  return new UsageError(`which ${kind}?`, `Write it before \`--\`: \`parley ${command} <${word}> -- ${shown}\`.`);
}

/** A suggestion: the nearest known name or, if none is near, the first known names. Undefined if no name is known. */
export function nameHint(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const near = nearestName(name, known);
  if (near !== undefined) return `Did you mean ${near}?`;
  return `Use one of: ${known.slice(0, MAX_NAMES).join(", ")}${known.length > MAX_NAMES ? ", …" : ""}.`;
}
