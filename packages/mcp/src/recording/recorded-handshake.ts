import { isObject } from "../jsonrpc/message.js";
import type { RecordedMessage, RecordingHeader } from "./recording.js";

const META = "io.modelcontextprotocol/";

/** The revision and the server of a session, by the first messages of it. */
export function handshakeOf(messages: readonly RecordedMessage[]): Pick<RecordingHeader, "revision" | "server"> {
  const asked = new Map<unknown, Readonly<Record<string, unknown>>>();
  for (const { direction, message } of messages) {
    if (direction === "sent") asked.set(message["id"], message);
    const request = direction === "received" ? asked.get(message["id"]) : undefined;
    const { result } = message;
    if (request === undefined || !isObject(result)) continue;
    if (request["method"] === "initialize") return facts(result["protocolVersion"], result["serverInfo"]);
    if (request["method"] !== "server/discover") continue;
    return facts(metaOf(request["params"])[`${META}protocolVersion`], metaOf(result)[`${META}serverInfo`]);
  }
  return {};
}

/**
 * What the recorded clients declared that they can be asked for, together: servers offer some tools to such clients alone. Behind
 * one connection may be several of them.
 */
export function recordedCapabilities(messages: readonly RecordedMessage[]): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const { direction, message } of messages) {
    const params = direction === "sent" && isObject(message["params"]) ? message["params"] : {};
    const declared =
      message["method"] === "initialize" ? params["capabilities"] : metaOf(params)[`${META}clientCapabilities`];
    for (const [name, value] of Object.entries(isObject(declared) ? declared : {})) {
      const known = all[name];
      all[name] = isObject(known) && isObject(value) ? { ...known, ...value } : value;
    }
  }
  return all;
}

function metaOf(value: unknown): Record<string, unknown> {
  const meta = isObject(value) ? value["_meta"] : undefined;
  return isObject(meta) ? meta : {};
}

function facts(revision: unknown, info: unknown): Pick<RecordingHeader, "revision" | "server"> {
  const { name, version } = isObject(info) ? info : {};
  return {
    ...(typeof revision === "string" ? { revision } : {}),
    ...(typeof name === "string" && typeof version === "string" ? { server: { name, version } } : {}),
  };
}
