/** What a JSON value must be, as one definition of a published schema says it. */
export type Shape =
  | { readonly kind: "unknown" }
  | { readonly kind: "simple"; readonly type: SimpleType; readonly least?: number; readonly most?: number }
  | { readonly kind: "literal"; readonly value: string | number }
  | { readonly kind: "array"; readonly items: Shape; readonly most?: number }
  | ObjectShape
  | { readonly kind: "union"; readonly parts: readonly Shape[] }
  | { readonly kind: "both"; readonly parts: readonly Shape[] }
  | { readonly kind: "named"; readonly name: string };

/** An object with these members, of which others may be present too. */
export interface ObjectShape {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, ShapeMember>;
  /** What all members that are not named must be. */
  readonly others?: Shape;
}

export interface ShapeMember {
  readonly shape: Shape;
  readonly optional: boolean;
}

/** The types of JSON that have no parts, and the formats of strings that the schemas name. */
export type SimpleType = "string" | "number" | "integer" | "boolean" | "null" | "uri" | "uriTemplate" | "base64";

/** What JSON calls a value; `none` for what JSON cannot hold. */
export type JsonKind = "string" | "number" | "boolean" | "null" | "array" | "object" | "none";

export function jsonKindOf(value: unknown): JsonKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" || type === "object" ? type : "none";
}
