/**
 * One server-sent event to write. An event without `data` only sets `id` or `retry`, and the reader dispatches nothing.
 */
export interface SseEventInit {
  readonly id?: string | undefined;
  readonly event?: string;
  readonly data?: string;
  /** Time that a reader should wait before it reconnects, in milliseconds. */
  readonly retry?: number;
}

/**
 * Writes one event.
 *
 * Line breaks in `data` become `\n`. Throws if `id` or `event` contains a line break or NUL, or if `retry` is not a whole
 * number of at least 0, because the reader would see a different event.
 */
export function encodeEvent({ id, event, data, retry }: SseEventInit): string {
  let text = "";
  if (id !== undefined) text += `id: ${oneLine(id, "id")}\n`;
  if (event !== undefined) text += `event: ${oneLine(event, "event")}\n`;
  if (retry !== undefined) {
    if (!Number.isSafeInteger(retry) || retry < 0)
      throw new RangeError(`SSE retry must be a whole number, got ${retry}`);
    text += `retry: ${retry}\n`;
  }
  if (data !== undefined) text += lines("data", data);
  return `${text}\n`;
}

/** Writes a comment, which has no meaning but keeps a connection open. Write it only between events. */
export function encodeComment(text: string): string {
  return `${lines("", text)}\n`;
}

function lines(field: string, text: string): string {
  // JSON text has no raw line break, so nearly every event is one line.
  if (!/[\r\n]/.test(text)) return `${field}: ${text}\n`;
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => `${field}: ${line}\n`)
    .join("");
}

function oneLine(text: string, field: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a field cannot contain.
  if (/[\r\n\u0000]/.test(text)) throw new RangeError(`SSE ${field} must not have a line break or NUL`);
  return text;
}
