import { isObject } from "../../jsonrpc/message.js";
import { hasCapability, type ServerCapabilities } from "../../protocol/capabilities.js";
import { McpError } from "../../protocol/error.js";
import { CORE_METHODS } from "../../protocol/methods.js";
import { CHANGING_LISTS, listNotice } from "./change.js";
import { RESOURCE_FILTER } from "./peer-subscriber.js";

/** Members of a filter with what they ask for: everything of a kind, or the named ones. */
export type ListenFilter = Map<string, true | readonly string[]>;

/** The capability under which each member of a filter is served. */
const CAPABILITIES: ReadonlyMap<string, string> = new Map([
  ...CHANGING_LISTS.map(listNotice).map(({ filter, method }) => [filter, capabilityOf(method)] as const),
  [RESOURCE_FILTER, capabilityOf("notifications/resources/updated")],
]);

function capabilityOf(method: string): string {
  return CORE_METHODS.find((row) => row.method === method)?.capability ?? "";
}

/** The members of a filter that a server with these capabilities and extensions serves. */
export function servedFilters(capabilities: ServerCapabilities, extensions: readonly string[]): Set<string> {
  const served = [...CAPABILITIES].filter(([, capability]) => hasCapability(capabilities, capability));
  return new Set([...served.map(([filter]) => filter), ...extensions]);
}

/** Reads the wanted members that are served; others are left out, which is how the client learns of it. */
export function readFilter(value: unknown, served: ReadonlySet<string>): ListenFilter {
  if (!isObject(value)) throw new McpError("invalid_params", "`params.notifications` must be an object");
  const filter: ListenFilter = new Map();
  for (const [member, wanted] of Object.entries(value)) {
    if (member === RESOURCE_FILTER ? !isStrings(wanted) : CAPABILITIES.has(member) && typeof wanted !== "boolean") {
      const form = member === RESOURCE_FILTER ? "an array of strings" : "a boolean";
      throw new McpError("invalid_params", `\`params.notifications.${member}\` must be ${form}`);
    }
    if (!served.has(member)) continue;
    if (wanted === true) filter.set(member, true);
    else if (isStrings(wanted)) filter.set(member, [...new Set(wanted)]);
  }
  return filter;
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
