/** Supported image types. Images are displayed with `<img>`, so that nothing inside them runs or loads. */
const IMAGES = /^image\/(?:png|jpeg|jpg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml)$/i;
const SOUNDS = /^audio\/[a-z0-9.+-]{1,64}$/i;
/** Maximum number of base64 characters that are displayed or played. Longer data can only be saved. */
const MAX_MEDIA_LENGTH = 32 * 1024 * 1024;

/** The media type without its parameters. */
export function plainType(mimeType: string | undefined): string {
  return (mimeType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** True if a text is base64, with or without padding. White space is allowed. */
export function isBase64Data(data: string): boolean {
  const plain = data.replaceAll(/\s/g, "");
  return plain.length % 4 !== 1 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** The number of bytes that a base64 text encodes. */
export function base64Size(data: string): number {
  const plain = data.replaceAll(/[\s=]/g, "");
  return Math.floor((plain.length * 3) / 4);
}

/** Returns a data URL for an image or audio that may be shown, or the reason why it must not be shown. */
export function mediaAddress(
  kind: "image" | "audio",
  mimeType: string | undefined,
  data: string,
): { readonly address: string } | { readonly refused: string } {
  const type = plainType(mimeType);
  if (!(kind === "image" ? IMAGES : SOUNDS).test(type)) {
    return { refused: type === "" ? "The media type is missing." : `The media type ${type} is not supported.` };
  }
  if (data.length > MAX_MEDIA_LENGTH) return { refused: "It is too large to show here." };
  if (!isBase64Data(data)) return { refused: "Its data is not valid base64." };
  return { address: `data:${type};base64,${data.replaceAll(/\s/g, "")}` };
}

/** True if a URL is an embedded image. Other images would require a request and are not loaded. */
export function isInlineImage(address: string): boolean {
  const [, type] = /^data:([a-z0-9.+/-]{1,100})[;,]/i.exec(address) ?? [];
  return type !== undefined && IMAGES.test(type) && address.length <= MAX_MEDIA_LENGTH;
}

/** Decodes a base64 text. Empty if the text is not base64. */
export function base64Bytes(data: string): Uint8Array<ArrayBuffer> {
  if (!isBase64Data(data)) return new Uint8Array();
  const text = atob(data.replaceAll(/\s/g, ""));
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Bytes per line of `hexLines`. */
const LINE = 16;

/** Formats the first bytes as lines of offset, hexadecimal digits and characters. */
export function hexLines(data: string, most: number): string {
  // Four characters encode three bytes.
  const bytes = base64Bytes(data.replaceAll(/\s/g, "").slice(0, Math.ceil(most / 3) * 4)).slice(0, most);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += LINE) {
    const line = [...bytes.slice(at, at + LINE)];
    const hex = line.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = line.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(LINE * 3 - 1)}  ${text}`);
  }
  return lines.join("\n");
}

/**
 * Derives a safe file name from a URI: without path separators and without characters that could hide the extension.
 */
export function fileNameOf(uri: string): string {
  const last = uri.split(/[?#]/, 1)[0]?.split("/").filter(Boolean).at(-1) ?? "";
  const safe = last
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(-80);
  return safe === "" ? "content" : safe;
}
