import { checkOptions } from "../../protocol/check-options.js";
import { McpError } from "../../protocol/error.js";
import type { Annotations } from "../../protocol/features/content.js";
import { checkMetaKey } from "../../protocol/meta.js";
import type { ServerOptions } from "./options.js";

/**
 * Throws for keys of `_meta` that are malformed, or that use a prefix reserved by the protocol. Extensions of this
 * server may use their own prefix.
 *
 * Spec: Overview, "_meta", https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function checkMeta(
  what: string,
  meta: object | undefined,
  { options }: { readonly options: ServerOptions },
): void {
  for (const key of Object.keys(meta ?? {})) {
    const verdict = checkMetaKey(key);
    const prefix = key.slice(0, key.indexOf("/") + 1);
    if (verdict === "free" || options.extensions?.some(({ id }) => id.startsWith(prefix))) continue;
    const why = verdict === "reserved" ? "has a prefix that the protocol reserves" : "is malformed";
    throw new McpError("invalid_definition", `the key "${key}" in \`_meta\` of ${what} ${why}`, {
      fix: "Use a prefix of your own and a name, such as `com.example/name`.",
    });
  }
}

/**
 * Throws for annotations that clients cannot read.
 *
 * Spec: Resources, "Annotations", https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations
 */
export function checkAnnotations(what: string, annotations: Annotations | undefined): void {
  checkOptions(`\`annotations\` of ${what}`, annotations, "audience priority lastModified");
  const { audience = [], priority = 0, lastModified = "2026-01-01" } = annotations ?? {};
  const wrong = (rule: string) => new McpError("invalid_definition", `${rule} in \`annotations\` of ${what}`);
  if (!Array.isArray(audience) || !audience.every((role) => role === "user" || role === "assistant"))
    throw wrong('`audience` must list "user" or "assistant"');
  // Written as a negation, so that `NaN` and other types fail too.
  if (!(priority >= 0 && priority <= 1)) throw wrong("`priority` must be a number from 0 to 1");
  if (!/^\d{4}-/.test(lastModified) || Number.isNaN(Date.parse(lastModified)))
    throw wrong("`lastModified` must be an ISO 8601 time");
}
