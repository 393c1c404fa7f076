/** Adds a table `[container.name]` at the end of a text of TOML. Everything else keeps its bytes. */
export function addTomlTable(text: string, container: string, name: string, value: Record<string, unknown>): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [`[${container}.${keyText(name)}]`];
  for (const [key, member] of Object.entries(value)) lines.push(`${keyText(key)} = ${tomlValue(member)}`);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  return `${text}${gap}${lines.join(eol)}${eol}`;
}

/** Takes the tables `[container.name]` and `[container.name.…]` out of a text of TOML. Comments before others stay. */
export function removeTomlTable(text: string, container: string, name: string): string {
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  let inside = false;
  let loose: string[] = [];
  for (const line of lines) {
    const header = HEADER.exec(line)?.[1];
    if (header !== undefined) inside = isTable(keysOf(header), container, name);
    // The empty line that stands before a table goes with it.
    if (inside && header !== undefined && /^\s*$/.test(kept.at(-1) ?? "x")) kept.pop();
    if (!inside) {
      kept.push(...loose, line);
      loose = [];
    } else if (/^\s*(?:#|$)/.test(line)) loose.push(line);
    else loose = [];
  }
  return [...kept, ...loose].join("");
}

const HEADER = /^[ \t]*\[\[?([^\]]+)\]\]?[ \t]*(?:#.*)?\r?\n?$/;
const KEY = /"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+/g;

function keysOf(header: string): string[] {
  return [...header.matchAll(KEY)].map(([key]) => (/^["']/.test(key) ? key.slice(1, -1) : key));
}

function isTable([first, second]: readonly string[], container: string, name: string): boolean {
  return first === container && second === name;
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, member]) => `${keyText(key)} = ${tomlValue(member)}`)
    .join(", ")} }`;
}
