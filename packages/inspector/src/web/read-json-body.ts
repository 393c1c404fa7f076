import type { IncomingMessage } from "node:http";
import { type Refusal, refusal } from "./refusal.js";

/** Levels of a value. The page's forms stay far below; what is deeper would exhaust the stack of whoever walks it. */
const MOST_LEVELS = 128;

/** An object of JSON, or why there is none. */
export type ReadBody = { readonly input: Readonly<Record<string, unknown>> } | { readonly refused: Refusal };

/** Reads the body of a request as a JSON object of at most so many bytes. Rejects when the connection is lost. */
export async function readJsonBody(request: IncomingMessage, mostBytes: number): Promise<ReadBody> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return wrong(415, "the body is not JSON", "Send `content-type: application/json`.");
  const tooMuch = () => wrong(413, `the body has more than ${mostBytes} bytes`, "Send less.");
  if (Number(request.headers["content-length"] ?? 0) > mostBytes) return tooMuch();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is left, so that the refusal still reaches its sender.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    // Without an encoding, a request gives buffers.
    const part = chunk as Buffer;
    bytes += part.length;
    if (bytes > mostBytes) return tooMuch();
    chunks.push(part);
  }
  return parsed(Buffer.concat(chunks).toString());
}

function parsed(text: string): ReadBody {
  if (levelsOf(text) > MOST_LEVELS) {
    return wrong(400, `the body has more than ${MOST_LEVELS} levels`, "Send a value that is less nested.");
  }
  try {
    const input: unknown = JSON.parse(text);
    if (isRecord(input)) return { input };
  } catch {
    // Answered as any other body that is no object.
  }
  return wrong(400, "the body is not a JSON object", "Send an object.");
}

const wrong = (status: number, message: string, fix: string): ReadBody => ({ refused: refusal(status, message, fix) });

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** How deeply a text nests, before it is parsed; brackets in strings do not count. A loop: expressions overflow on long strings. */
function levelsOf(text: string): number {
  let [level, most, quoted] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') quoted = !quoted;
    else if (quoted) at += sign === "\\" ? 1 : 0;
    else if (sign === "[" || sign === "{") most = Math.max(most, ++level);
    else if (sign === "]" || sign === "}") level -= 1;
  }
  return most;
}
