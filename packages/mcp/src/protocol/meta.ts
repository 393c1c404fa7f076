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

/** Marks structured content that a server of this library had to put into an object, as `{ result }`, for an older revision. */
export const WRAPPED = "dev.parley/wrapped";

/** Names the text block that holds the structured content of a result, for a revision that has none. */
export const STRUCTURED = "dev.parley/structured";

/** The token of a request that wants to hear of progress. A number that this runtime cannot repeat exactly is refused. */
export function progressTokenOf(meta: Readonly<Record<string, unknown>> | undefined): Id | undefined {
  const token = meta?.["progressToken"];
  if (typeof token === "number" && !isId(token)) {
    throw new McpError("invalid_params", "a progress token is a string, or an integer of at most 2^53 - 1");
  }
  return isId(token) ? token : undefined;
}

const LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const KEY = /* @__PURE__ */ new RegExp(
  `^(?:(${LABEL}(?:\\.${LABEL})*)/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`,
);

/**
 * Whether a `_meta` key is well-formed, and whether the protocol reserves its prefix.
 *
 * Spec: Overview, "_meta", https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function checkMetaKey(key: string): "free" | "reserved" | "malformed" {
  const match = key.length <= 512 ? KEY.exec(key) : null;
  if (match === null) return "malformed";
  const second = match[1]?.split(".")[1];
  return second === "modelcontextprotocol" || second === "mcp" ? "reserved" : "free";
}
