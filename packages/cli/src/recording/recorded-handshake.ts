import { isRecord, type RecordedMessage, type RecordingHeader } from "./recording.js";

const META = "io.modelcontextprotocol/";

/** The revision and the server of a session, by the first messages of it. */
export function handshakeOf(messages: readonly RecordedMessage[]): Pick<RecordingHeader, "revision" | "server"> {
  const asked = new Map<unknown, Readonly<Record<string, unknown>>>();
  for (const { direction, message } of messages) {
    if (direction === "sent") asked.set(message["id"], message);
    const request = direction === "received" ? asked.get(message["id"]) : undefined;
    const { result } = message;
    if (request === undefined || !isRecord(result)) continue;
    if (request["method"] === "initialize") return facts(result["protocolVersion"], result["serverInfo"]);
    if (request["method"] !== "server/discover") continue;
    return facts(metaOf(request["params"])[`${META}protocolVersion`], metaOf(result)[`${META}serverInfo`]);
  }
  return {};
}

function metaOf(value: unknown): Record<string, unknown> {
  const meta = isRecord(value) ? value["_meta"] : undefined;
  return isRecord(meta) ? meta : {};
}

function facts(revision: unknown, info: unknown): Pick<RecordingHeader, "revision" | "server"> {
  const { name, version } = isRecord(info) ? info : {};
  return {
    ...(typeof revision === "string" ? { revision } : {}),
    ...(typeof name === "string" && typeof version === "string" ? { server: { name, version } } : {}),
  };
}
