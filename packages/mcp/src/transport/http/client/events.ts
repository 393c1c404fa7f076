import type { SendResponse } from "../../../http/http.js";
import { McpError } from "../../../protocol/error.js";
import { SseDecoder } from "../../framing/sse-decoder.js";

/** Receives the events of a stream. */
export interface EventSink {
  /** The text of one message. */
  text(text: string): void;
  /** An event of another type than `message`. */
  other?(type: string, data: string): void;
  /** Where the stream can be resumed, as a header value; undefined if it cannot. */
  eventId(id: string | undefined): void;
  /** Undefined, or what to wait for before more of the stream is read. */
  ready?(): Promise<void> | undefined;
  /** How long the server asks to wait before the stream is opened again. */
  retry(ms: number): void;
  /** An event was too long; the rest of the stream is not read. */
  oversized(error: McpError): void;
}

/** True if the response body is a stream of server-sent events. */
export function isEventStream(response: SendResponse): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(response.header("content-type") ?? "");
}

/**
 * Reads a stream to its end; `afterChunk` runs after the events of one chunk were delivered. Rejects if the connection breaks.
 * Only events of type `message` with data are messages.
 */
export async function readEvents(
  response: SendResponse,
  sink: EventSink,
  maxBytes: number,
  afterChunk?: () => void,
): Promise<void> {
  let tooLong = false;
  const decoder = new SseDecoder(
    {
      event({ id, event, data }) {
        if (id !== undefined) sink.eventId(sendable(id));
        if (data === "") return;
        if (event === undefined || event === "message") sink.text(data);
        else sink.other?.(event, data);
      },
      retry: (ms) => sink.retry(ms),
      error() {
        tooLong = true;
      },
    },
    { maxEventLength: maxBytes },
  );
  for await (const chunk of response.chunks()) {
    decoder.feed(chunk);
    if (tooLong) return sink.oversized(oversizedEvent(maxBytes));
    afterChunk?.();
    const wait = sink.ready?.();
    if (wait !== undefined) await wait;
  }
}

function oversizedEvent(maxBytes: number): McpError {
  return new McpError("oversized_frame", `the server sent an event of more than ${maxBytes} bytes`, {
    fix: "Ask for less at once, or raise `maxMessageBytes` of `connect`.",
  });
}

/** Far below the size at which servers reject headers. */
const MAX_ID = 4_096;

/** The id as a header value: its UTF-8 bytes, one character each. Undefined if a header cannot hold it. */
function sendable(id: string): string | undefined {
  if (id === "" || id.length > MAX_ID) return undefined;
  if (/^[\x20-\x7e]+$/.test(id)) return id;
  let bytes = "";
  for (const byte of new TextEncoder().encode(id)) {
    if (byte < 0x20 || byte === 0x7f) return undefined;
    bytes += String.fromCharCode(byte);
  }
  return bytes;
}
