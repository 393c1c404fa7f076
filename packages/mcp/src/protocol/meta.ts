import { type Id, isId } from "../jsonrpc/message.js";
import { McpError } from "./error.js";

/** The reserved keys of `_meta`. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

/**
 * The `_meta` key that marks structured content which a server of this library wrapped as `{ result }`, for a revision
 * that allows only objects.
 */
export const WRAPPED_KEY = "dev.parley/wrapped";

/**
 * The `_meta` key with the index of the text block that contains the structured content, for a revision without
 * structured content.
 */
export const STRUCTURED_KEY = "dev.parley/structured";

/**
 * The progress token of a request; undefined if the request wants no progress. Throws `invalid_params` for a number
 * that this runtime cannot represent exactly.
 */
export function progressTokenOf(meta: Readonly<Record<string, unknown>> | undefined): Id | undefined {
  const token = meta?.["progressToken"];
  if (typeof token === "number" && !isId(token)) {
    throw new McpError("invalid_params", "a progress token must be a string, or an integer of at most 2^53 - 1");
  }
  return isId(token) ? token : undefined;
}

const LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const KEY = /* @__PURE__ */ new RegExp(
  `^(?:(${LABEL}(?:\\.${LABEL})*)/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`,
);

/**
 * Classifies a `_meta` key: `malformed`, `reserved` if the protocol reserves its prefix, otherwise `free`.
 *
 * Spec: Overview, "_meta", https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 *
 * @example
 * ```ts
 * import { checkMetaKey } from "@parley/mcp/protocol";
 *
 * checkMetaKey("com.example/trace"); // "free"
 * checkMetaKey("io.modelcontextprotocol/trace"); // "reserved"
 * ```
 */
export function checkMetaKey(key: string): "free" | "reserved" | "malformed" {
  const match = key.length <= 512 ? KEY.exec(key) : null;
  if (match === null) return "malformed";
  const second = match[1]?.split(".")[1];
  return second === "modelcontextprotocol" || second === "mcp" ? "reserved" : "free";
}
