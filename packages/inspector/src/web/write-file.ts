import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { WrittenFile } from "../contract/keep.js";

/** Whether what an action gave is a file that is yet to be written. */
export function isWrittenFile(value: unknown): value is WrittenFile {
  return typeof value === "object" && value !== null && "parts" in value && "mediaType" in value;
}

/**
 * Writes a file as the answer of an action that gives one, each part when the page has read those before. A page that has gone gets
 * no more. Rejects where the file fails; what was written is no answer then, and its connection is to be ended.
 */
export async function writeFile(response: ServerResponse, { name, mediaType, parts }: WrittenFile): Promise<void> {
  const facts = JSON.stringify({ name, mediaType }).slice(0, -1);
  if (!response.destroyed) response.write(`{"ok":true,"value":${facts},"text":"`);
  for await (const part of parts) {
    if (response.destroyed) return;
    // A text within quotes, without them.
    if (!response.write(JSON.stringify(part).slice(1, -1))) await drained(response);
  }
  if (!response.destroyed) response.end('"}}');
}

async function drained(response: ServerResponse): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  try {
    // `destroyed` may be true already, and nothing happens any more.
    if (!response.destroyed)
      await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
  } finally {
    ending.abort();
  }
}
