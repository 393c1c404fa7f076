import type { Revision } from "@parley/mcp/protocol";
import type { ObjectShape, Shape } from "./shape.js";
import { parseShape } from "./shape-notation.js";
import { SHAPES_2024_11_05 } from "./shapes/shapes-2024-11-05.js";
import { SHAPES_2025_03_26 } from "./shapes/shapes-2025-03-26.js";
import { SHAPES_2025_06_18 } from "./shapes/shapes-2025-06-18.js";
import { SHAPES_2025_11_25 } from "./shapes/shapes-2025-11-25.js";
import { SHAPES_2026_07_28 } from "./shapes/shapes-2026-07-28.js";

/** The shape tables, the oldest revision first. Each table has only the differences from the previous one. */
const TABLES: readonly (readonly [Revision, string])[] = [
  ["2024-11-05", SHAPES_2024_11_05],
  ["2025-03-26", SHAPES_2025_03_26],
  ["2025-06-18", SHAPES_2025_06_18],
  ["2025-11-25", SHAPES_2025_11_25],
  ["2026-07-28", SHAPES_2026_07_28],
];

const read = new Map<Revision, SchemaDefinitions>();

/** Returns the definitions of a revision. They are parsed on first use and cached. */
export function definitionsOf(revision: Revision): SchemaDefinitions {
  const known = read.get(revision) ?? new SchemaDefinitions(readTables(revision));
  read.set(revision, known);
  return known;
}

/** The definitions of one published schema, indexed by methods and error codes. */
export class SchemaDefinitions {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #shapes = new Map<string, Shape>();
  readonly #methods = new Map<string, string>();
  readonly #errors = new Map<number, string>();

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
    for (const name of texts.keys()) this.#index(name);
  }

  names(): Iterable<string> {
    return this.#texts.keys();
  }

  has(name: string): boolean {
    return this.#texts.has(name);
  }

  /** Returns the shape of a definition. An unknown name allows any value. */
  shape(name: string): Shape {
    const known = this.#shapes.get(name) ?? parseShape(this.#texts.get(name) ?? "unknown");
    this.#shapes.set(name, known);
    return known;
  }

  /** Follows named shapes until a shape is found that is not a name. */
  resolve(shape: Shape): Shape {
    let resolved = shape;
    while (resolved.kind === "named") resolved = this.shape(resolved.name);
    return resolved;
  }

  methods(): Iterable<string> {
    return this.#methods.keys();
  }

  /** Returns the name of the definition of a request or notification, by its method. */
  nameOfMethod(method: string): string | undefined {
    return this.#methods.get(method);
  }

  /** Returns the name of the definition of an error response, if the code has its own definition. */
  nameOfError(code: number): string | undefined {
    return this.#errors.get(code);
  }

  /** True if the schema lists the method among the messages of this side. */
  isSentBy(sender: "client" | "server", method: string): boolean {
    const side = sender === "client" ? "Client" : "Server";
    return [`${side}Request`, `${side}Notification`].some(
      (name) => this.has(name) && partsOf(this.shape(name)).some((part) => methodOf(this.resolve(part)) === method),
    );
  }

  /**
   * True if a request may be answered with `InputRequiredResult`. `base` is the name of the request's definition
   * without `Request`.
   */
  allowsQuestions(base: string): boolean {
    return this.#texts.get(`${base}ResultResponse`)?.includes("InputRequiredResult") ?? false;
  }

  #index(name: string): void {
    const shape = this.shape(name);
    const method = methodOf(shape);
    // In 2026-07-28, the union `ClientNotification` has a single member, so its shape is that of the member. The member
    // also has a definition of its own, which is the one to index.
    if (method !== undefined && !/^(Client|Server)(Request|Notification)$/.test(name)) this.#methods.set(method, name);
    const error = shape.kind === "object" ? shape.members.get("error")?.shape : undefined;
    if (error?.kind !== "both") return;
    for (const part of error.parts) {
      const code = part.kind === "object" ? literalOf(part, "code") : undefined;
      if (typeof code === "number") this.#errors.set(code, name);
    }
  }
}

function readTables(revision: Revision): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [of, table] of TABLES) {
    for (const [, name = "", sign, text = ""] of table.matchAll(/^(\w+) ([-=])(.*(?:\n {2}.*)*)$/gm)) {
      if (sign === "-") texts.delete(name);
      else texts.set(name, text);
    }
    if (of === revision) break;
  }
  return texts;
}

function partsOf(shape: Shape): readonly Shape[] {
  return shape.kind === "union" ? shape.parts : [shape];
}

function methodOf(shape: Shape): string | undefined {
  const method = shape.kind === "object" ? literalOf(shape, "method") : undefined;
  return typeof method === "string" ? method : undefined;
}

function literalOf(shape: ObjectShape, key: string): string | number | undefined {
  const member = shape.members.get(key)?.shape;
  return member?.kind === "literal" ? member.value : undefined;
}
