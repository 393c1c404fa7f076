/** The values that a definition of a published schema allows. */
export type Shape =
  | { readonly kind: "unknown" }
  | { readonly kind: "simple"; readonly type: SimpleType; readonly least?: number; readonly most?: number }
  | { readonly kind: "literal"; readonly value: string | number }
  | { readonly kind: "array"; readonly items: Shape; readonly most?: number }
  | ObjectShape
  | { readonly kind: "union"; readonly parts: readonly Shape[] }
  | { readonly kind: "both"; readonly parts: readonly Shape[] }
  | { readonly kind: "named"; readonly name: string };

/** An object with these members. Other members are allowed, and must match `others` if it is present. */
export interface ObjectShape {
  readonly kind: "object";
  readonly members: ReadonlyMap<string, ShapeMember>;
  /** The shape of all other members. */
  readonly others?: Shape;
}

export interface ShapeMember {
  readonly shape: Shape;
  readonly optional: boolean;
}

/** The primitive JSON types, and the string formats that the schemas use. */
export type SimpleType = "string" | "number" | "integer" | "boolean" | "null" | "uri" | "uriTemplate" | "base64";

/** The JSON type of a value. `none` for values that JSON cannot represent. */
export type JsonKind = "string" | "number" | "boolean" | "null" | "array" | "object" | "none";

export function jsonKindOf(value: unknown): JsonKind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" || type === "object" ? type : "none";
}
