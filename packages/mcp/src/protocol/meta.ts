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
