/**
 * Maximum nesting depth that is written. Deeper values are replaced by `"…"`. The structures of the protocol itself are
 * not nested deeper.
 */
const MAX_DEPTH = 100;

/** A JSON text. `cut` is true if the text is not complete. */
export interface BoundedText {
  readonly text: string;
  readonly cut: boolean;
}

/**
 * Formats a JSON value with an indent of two spaces and stops at `max` characters, because indentation can make a small
 * message very long.
 */
export function boundedJson(value: unknown, max: number): BoundedText {
  const writer: Writer = { parts: [], left: max, cut: false };
  write(writer, value, 0);
  const text = writer.parts.join("");
  return { text: text.length > max ? text.slice(0, max) : text, cut: writer.cut || text.length > max };
}

interface Writer {
  readonly parts: string[];
  left: number;
  cut: boolean;
}

function write(writer: Writer, value: unknown, depth: number): void {
  if (typeof value === "string" && value.length > writer.left) {
    writer.cut = true;
    return put(writer, JSON.stringify(value.slice(0, Math.max(writer.left, 0))));
  }
  if (typeof value !== "object" || value === null) return put(writer, JSON.stringify(value) ?? "null");
  if (depth >= MAX_DEPTH) {
    writer.cut = true;
    return put(writer, '"…"');
  }
  if (Array.isArray(value)) return writeItems(writer, value, depth);
  writeMembers(writer, value, depth);
}

function writeItems(writer: Writer, items: readonly unknown[], depth: number): void {
  if (items.length === 0) return put(writer, "[]");
  put(writer, "[");
  for (const [index, item] of items.entries()) {
    if (isFull(writer)) return;
    put(writer, `${index === 0 ? "" : ","}\n${"  ".repeat(depth + 1)}`);
    write(writer, item, depth + 1);
  }
  put(writer, `\n${"  ".repeat(depth)}]`);
}

function writeMembers(writer: Writer, record: object, depth: number): void {
  const members = Object.entries(record).filter(([, member]) => member !== undefined);
  if (members.length === 0) return put(writer, "{}");
  put(writer, "{");
  for (const [index, [name, member]] of members.entries()) {
    if (isFull(writer)) return;
    put(writer, `${index === 0 ? "" : ","}\n${"  ".repeat(depth + 1)}${JSON.stringify(name)}: `);
    write(writer, member, depth + 1);
  }
  put(writer, `\n${"  ".repeat(depth)}}`);
}

function put(writer: Writer, text: string): void {
  writer.parts.push(text);
  writer.left -= text.length;
}

function isFull(writer: Writer): boolean {
  if (writer.left < 0) writer.cut = true;
  return writer.left < 0;
}
