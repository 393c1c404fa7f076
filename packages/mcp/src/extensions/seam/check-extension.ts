import { isThenable, neverUnhandled } from "../../encoding/maybe-promise.js";
import { thrownMessage } from "../../encoding/thrown-message.js";
import { isObject } from "../../jsonrpc/message.js";
import { McpError } from "../../protocol/error.js";
import type { Extension } from "../../protocol/extension.js";
import { checkMetaKey } from "../../protocol/meta.js";
import { CORE_TABLE, type MethodRow } from "../../protocol/methods.js";
import { REVISIONS } from "../../protocol/revisions.js";

/** Result types that the protocol itself defines. */
const OWN_RESULTS: readonly unknown[] = ["complete", "input_required"];
/** Members of a listen filter that the protocol itself defines. */
const OWN_FILTERS: readonly unknown[] = [
  "toolsListChanged",
  "promptsListChanged",
  "resourcesListChanged",
  "resourceSubscriptions",
];

/** Throws `invalid_definition` for an extension that cannot work, or that would redefine a part of the protocol. */
export function checkExtension({
  id,
  settings,
  first,
  requires = [],
  methods = [],
  resultTypes = [],
  listenFilters = [],
}: Extension): void {
  if (!isExtensionId(id)) {
    throw new McpError("invalid_definition", `${JSON.stringify(id)} is not the id of an extension`, {
      fix: "Use your own prefix and a name, such as `com.example/feature`.",
    });
  }
  const refuse = (problem: string, fix: string) =>
    new McpError("invalid_definition", `the extension ${id} ${problem}`, { fix });
  if (!isObject(settings)) throw refuse("has no settings", "Write `settings: {}` if there is nothing to declare.");
  if (first !== undefined) checkRevision(first, "`first`", refuse);
  if (!Array.isArray(requires) || requires.some((required) => !isExtensionId(required) || required === id))
    throw refuse(
      "has an entry in `requires` that is not the id of another extension",
      "Write ids, such as `com.example/feature`.",
    );
  for (const row of methods) checkRow(row, refuse);
  for (const type of resultTypes) {
    if (OWN_RESULTS.includes(type))
      throw refuse(`redefines the result type "${type}" of the protocol`, "Choose another name.");
  }
  for (const filter of listenFilters) {
    if (OWN_FILTERS.includes(filter))
      throw refuse(`redefines the filter "${filter}" of the protocol`, "Choose another name.");
  }
}

function isExtensionId(id: unknown): boolean {
  return typeof id === "string" && id.includes("/") && !id.endsWith("/") && checkMetaKey(id) !== "malformed";
}

type Refuse = (problem: string, fix: string) => McpError;

function checkRow(row: MethodRow, refuse: Refuse): void {
  // An extension may be written in JavaScript, so every member may be missing.
  const { method, kind, sender, first, last } = row as Partial<MethodRow>;
  if (typeof method !== "string" || method === "")
    throw refuse("has a method without a name", "Set `method` in each row.");
  const named = `the method "${method}"`;
  if (CORE_TABLE.get(method) !== undefined) {
    throw refuse(`redefines ${named} of the protocol`, "Use `around` or `outgoing` for it, or choose another name.");
  }
  if (kind !== "request" && kind !== "notification") {
    throw refuse(`has ${named} without a kind`, 'Write `kind: "request"` or `kind: "notification"`.');
  }
  if (sender !== "client" && sender !== "server" && sender !== "both") {
    throw refuse(`has ${named} without a sender`, 'Write `sender: "client"`, `"server"` or `"both"`.');
  }
  checkRevision(first, `\`first\` of ${named}`, refuse);
  if (last !== undefined) checkRevision(last, `\`last\` of ${named}`, refuse);
}

function checkRevision(value: unknown, what: string, refuse: Refuse): void {
  if ((REVISIONS as readonly unknown[]).includes(value)) return;
  throw refuse(
    `has the unknown revision ${JSON.stringify(value)} as ${what}`,
    `Write one of: ${REVISIONS.join(", ")}.`,
  );
}

/**
 * Throws `invalid_definition` unless every member of `given` is a known name. `fix` says where to list an unknown name.
 */
export function checkDeclared(what: string, given: object | undefined, known: readonly string[], fix: string): void {
  for (const name of Object.keys(given ?? {})) {
    if (!known.includes(name))
      throw new McpError("invalid_definition", `${what} has "${name}", which it does not declare`, { fix });
  }
}

/**
 * Calls a function of an extension and returns its object. Throws `invalid_definition` if the function returns anything
 * else or throws. An `McpError` that the function throws is passed on.
 */
export function checkReturned<T extends object>(what: string, run: () => T): T {
  let value: T;
  try {
    value = run();
  } catch (error) {
    if (McpError.is(error)) throw error;
    throw new McpError("invalid_definition", `${what} failed: ${thrownMessage(error)}`, {
      cause: error,
      fix: "Correct it, or report it to the author of the extension.",
    });
  }
  if (isObject(value) && !isThenable(value)) return value;
  if (isThenable(value)) neverUnhandled(Promise.resolve(value));
  throw new McpError("invalid_definition", `${what} returned ${isThenable(value) ? "a promise" : String(value)}`, {
    fix: "Return an object synchronously, or `{}` if it adds nothing.",
  });
}
