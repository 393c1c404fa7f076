/** Appends one member name or array index to a JSON pointer (RFC 6901). */
export function joinPointer(pointer: string, key: string | number): string {
  return typeof key === "number" ? `${pointer}/${key}` : `${pointer}/${escapeToken(key)}`;
}

function escapeToken(token: string): string {
  if (!token.includes("~") && !token.includes("/")) return token;
  return token.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Splits a JSON pointer into its unescaped tokens. The empty pointer has none. */
export function splitPointer(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the own member of an object or array that a token names, or undefined if there is none. */
export function pointedMember(value: unknown, token: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, token)?.value;
}
