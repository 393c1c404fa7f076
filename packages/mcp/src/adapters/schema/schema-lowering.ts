import type { Lowered } from "./lowered.js";
import type { SchemaNode } from "./merge-schemas.js";
import type { SchemaDialect } from "./schema-dialect.js";

/** Where in a schema the work is. */
export interface Place {
  /** Objects and lists around it. */
  readonly depth: number;
  /** References that were followed to get here. */
  readonly within: ReadonlySet<string>;
  /** For people: `city.name`. */
  readonly path: string;
}

/** The work on one schema. */
export interface SchemaLowering {
  readonly dialect: SchemaDialect;
  /** What the provider does not get to know, in words. */
  readonly lost: string[];
  lower(schema: unknown, place: Place): Lowered;
  /** The whole value as JSON text. */
  text(schema: unknown, place: Place, why: string): Lowered;
  /** Adds what the schema says of itself, and in words what the provider's form cannot say. */
  described(lowered: Lowered, node: SchemaNode, used: readonly string[], place: Place): Lowered;
  /** The keywords of a schema that the provider knows. */
  kept(node: SchemaNode, type: keyof SchemaDialect["keywords"] | undefined): SchemaNode;
  /** Checks values against a part of the tool's own schema; accepts all if that cannot be checked. */
  accepts(node: unknown): (value: unknown) => boolean;
}
