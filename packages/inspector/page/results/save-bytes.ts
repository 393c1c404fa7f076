/** Long enough for the browser to begin the download before its address ends. */
const REVOKE_AFTER_MS = 10_000;

/** Lets the user save bytes or a text as a file. The type is that of plain bytes, so that a browser never opens what a server sent. */
export function saveBytes(name: string, content: Uint8Array<ArrayBuffer> | string): void {
  const address = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
}
