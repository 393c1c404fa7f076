import type { CoercionPlan } from "./coercion-plan.js";
import { planCoercion } from "./coercion-plan.js";
import { joinPointer } from "./json-schema/json-pointer.js";
import { isSchemaObject } from "./json-schema/schema-resources.js";
import { TYPE_BITS, typeBit } from "./json-schema/type-mask.js";
import type { JsonSchemaObject, JsonSchemaType } from "./json-schema.js";

/** One value that arrived as a string and was turned into what the schema asks for. */
export interface Coercion {
  /** JSON pointer of the value. */
  readonly path: string;
  readonly from: "string";
  readonly to: JsonSchemaType;
}

/** A value after coercion: the same object when nothing was coerced. */
export interface Coerced {
  readonly value: unknown;
  readonly coercions: readonly Coercion[];
}

// Text that came in as a string must not bring in more structure than a message may have.
const MAX_DEPTH = 128;
const MAX_NODES = 100_000;

const NOTHING: readonly Coercion[] = Object.freeze([]);

/**
 * Prepares the coercion of stringified values (`"[1,2]"`, `"5"`, `"false"`), which models often send.
 *
 * A string is turned only where the schema excludes strings and the text is exactly the JSON of an admitted type.
 * Undefined when the schema leaves nothing to coerce, so that such schemas cost nothing per call.
 */
export function prepareCoercion(schema: JsonSchemaObject): ((value: unknown) => Coerced) | undefined {
  const plan = planCoercion(schema);
  if (plan === undefined) return undefined;
  return (value) => {
    const found: Found = { coercions: undefined };
    const coerced = apply(plan, value, found, 0);
    return { value: coerced, coercions: found.coercions ?? NOTHING };
  };
}

/** Coerces one value; `prepareCoercion` does the same for many values. */
export function coerceArguments(value: unknown, schema: JsonSchemaObject): Coerced {
  return prepareCoercion(schema)?.(value) ?? { value, coercions: NOTHING };
}

/** The list is made for the first coercion: most calls have none. */
interface Found {
  coercions: { path: string; from: "string"; to: JsonSchemaType }[] | undefined;
}

function apply(plan: CoercionPlan, value: unknown, found: Found, depth: number): unknown {
  if (typeof value === "string") {
    if (plan.mask & TYPE_BITS.string) return value;
    const parsed = parseAs(value, plan.mask);
    if (parsed === undefined) return value;
    found.coercions ??= [];
    found.coercions.push({ path: "", from: "string", to: parsed.type });
    // Only what was a string may hold strings again at the same place; once parsed it does not come here twice.
    return apply(plan, parsed.value, found, depth);
  }
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return plan.items === undefined ? value : applyItems(plan.items, value, found, depth);
  return isSchemaObject(value) ? applyMembers(plan, value, found, depth) : value;
}

/** Applies a plan to a member, and puts the member's name before the paths of what was coerced inside. */
function applyWithin(plan: CoercionPlan, key: string | number, value: unknown, found: Found, depth: number): unknown {
  const before = found.coercions?.length ?? 0;
  const next = apply(plan, value, found, depth + 1);
  if (found.coercions !== undefined && found.coercions.length > before) {
    const prefix = joinPointer("", key);
    for (const coercion of found.coercions.slice(before)) coercion.path = prefix + coercion.path;
  }
  return next;
}

function applyItems(plan: CoercionPlan, items: readonly unknown[], found: Found, depth: number): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const next = applyWithin(plan, i, items[i], found, depth);
    if (next === items[i]) continue;
    copy ??= [...items];
    copy[i] = next;
  }
  return copy ?? items;
}

type Members = Readonly<Record<string, unknown>>;

function applyMembers(plan: CoercionPlan, members: Members, found: Found, depth: number): Members {
  if (plan.properties.size === 0 && plan.additional === undefined) return members;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member !== "string" && typeof member !== "object") continue;
    const below = plan.properties.get(name) ?? plan.additional;
    if (below === undefined) continue;
    const next = applyWithin(below, name, member, found, depth);
    if (next === member) continue;
    copy ??= { ...members };
    // Defined, not assigned: a member may be named "__proto__".
    Object.defineProperty(copy, name, { value: next, writable: true, enumerable: true, configurable: true });
  }
  return copy ?? members;
}

const NUMBER = /^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/;

function parseAs(text: string, mask: number): { value: unknown; type: JsonSchemaType } | undefined {
  if (text === "true" || text === "false") {
    return mask & TYPE_BITS.boolean ? { value: text === "true", type: "boolean" } : undefined;
  }
  if (text.length <= 70 && NUMBER.test(text)) return parseNumber(text, mask);
  const type = /^\s*\[/.test(text) ? "array" : /^\s*\{/.test(text) ? "object" : undefined;
  if (type === undefined || (mask & TYPE_BITS[type]) === 0) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeBit(value) === TYPE_BITS[type] && isModest(value) ? { value, type } : undefined;
  } catch {
    return undefined;
  }
}

/** An integer that a double cannot hold exactly would arrive as another number, so it stays a string. */
function parseNumber(text: string, mask: number): { value: number; type: JsonSchemaType } | undefined {
  const value = Number(text);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined;
  if (mask & TYPE_BITS.number) return { value, type: "number" };
  return mask & TYPE_BITS.integer && Number.isInteger(value) ? { value, type: "integer" } : undefined;
}

function isModest(value: unknown): boolean {
  let nodes = 0;
  const fits = (part: unknown, depth: number): boolean => {
    if (++nodes > MAX_NODES || depth > MAX_DEPTH) return false;
    if (typeof part !== "object" || part === null) return true;
    return Object.values(part).every((inner) => fits(inner, depth + 1));
  };
  return fits(value, 0);
}
