/** Pictures that are shown. As images, so that nothing inside them runs or loads. */
const IMAGES = /^image\/(?:png|jpeg|jpg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml)$/i;
const SOUNDS = /^audio\/[a-z0-9.+-]{1,64}$/i;
/** Characters of base64 that are shown as a picture or played. */
const MOST_MEDIA = 32 * 1024 * 1024;

/** The media type without its parameters. */
export function plainType(mimeType: string | undefined): string {
  return (mimeType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Whether a text is base64, with or without padding; white space is allowed. */
export function isBase64Data(data: string): boolean {
  const plain = data.replaceAll(/\s/g, "");
  return plain.length % 4 !== 1 && /^[A-Za-z0-9+/]*={0,2}$/.test(plain);
}

/** The number of bytes that a base64 text stands for. */
export function base64Size(data: string): number {
  const plain = data.replaceAll(/[\s=]/g, "");
  return Math.floor((plain.length * 3) / 4);
}

/** The address of a picture or a sound that may be shown, or why it is not. */
export function mediaAddress(
  kind: "image" | "audio",
  mimeType: string | undefined,
  data: string,
): { readonly address: string } | { readonly refused: string } {
  const type = plainType(mimeType);
  if (!(kind === "image" ? IMAGES : SOUNDS).test(type)) {
    return { refused: `The type ${type === "" ? "is missing" : `${type} is not shown`}.` };
  }
  if (data.length > MOST_MEDIA) return { refused: "It is too large to be shown here." };
  if (!isBase64Data(data)) return { refused: "Its data is not base64." };
  return { address: `data:${type};base64,${data.replaceAll(/\s/g, "")}` };
}

/** Whether an address inside a text is a picture that it carries itself; others would have to be fetched, and are not. */
export function isInlineImage(address: string): boolean {
  const [, type] = /^data:([a-z0-9.+/-]{1,100})[;,]/i.exec(address) ?? [];
  return type !== undefined && IMAGES.test(type) && address.length <= MOST_MEDIA;
}

/** The bytes of a base64 text; none where it is not base64. */
export function base64Bytes(data: string): Uint8Array<ArrayBuffer> {
  if (!isBase64Data(data)) return new Uint8Array();
  const text = atob(data.replaceAll(/\s/g, ""));
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

/** Bytes on a line of `hexLines`. */
const LINE = 16;

/** The first bytes as lines: place, hexadecimal, and the characters among them. */
export function hexLines(data: string, most: number): string {
  // Four characters are three bytes.
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

/** A name for a file, made of an address; whatever could be a path or hide its end is taken out. */
export function fileNameOf(uri: string): string {
  const last = uri.split(/[?#]/, 1)[0]?.split("/").filter(Boolean).at(-1) ?? "";
  const safe = last
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(-80);
  return safe === "" ? "content" : safe;
}
