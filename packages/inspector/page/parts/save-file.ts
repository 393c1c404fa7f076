import type { FileDownload } from "../../src/contract/sessions.js";

/** Delay before the URL of a download is revoked, so that the browser has time to start the download. */
const REVOKE_AFTER_MS = 10_000;

/** Downloads a text as a file. */
export function saveFile({ name, text, mediaType }: FileDownload): void {
  save(name, new Blob([text], { type: mediaType }));
}

/**
 * Downloads bytes or a text as a file. The type `application/octet-stream` prevents the browser from opening data from
 * a server.
 */
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
