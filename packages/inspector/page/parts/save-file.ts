import type { KeptFile } from "../../src/contract/keep.js";

/** Long enough for the browser to begin the download before its address ends. */
const REVOKE_AFTER_MS = 10_000;

/** Lets the user save a text as a file, the way the browser saves any download. */
export function saveFile(file: KeptFile): void {
  const address = URL.createObjectURL(new Blob([file.text], { type: file.mediaType }));
  const link = document.createElement("a");
  link.href = address;
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
}
