import type { KeptFile } from "../../src/contract/keep.js";

/** Long enough for the browser to begin the download before its address ends. */
const REVOKE_AFTER_MS = 10_000;

/** Lets the user save a text as a file, the way the browser saves any download. */
export function saveFile({ name, text, mediaType }: KeptFile): void {
  save(name, new Blob([text], { type: mediaType }));
}

/** Lets the user save bytes or a text as a file. The type is that of plain bytes, so that a browser never opens what a server sent. */
export function saveBytes(name: string, content: Uint8Array<ArrayBuffer> | string): void {
  save(name, new Blob([content], { type: "application/octet-stream" }));
}

function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
}
