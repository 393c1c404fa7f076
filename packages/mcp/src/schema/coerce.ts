import { joinPointer, pointedMember, splitPointer } from "./json-schema/json-pointer.js";
import type { JsonSchemaObject, JsonSchemaType } from "./json-schema/json-schema.js";
import { isSchemaObject } from "./json-schema/schema-resources.js";
import { ANY_TYPE, isTypeName, TYPE_BITS, typeBit } from "./json-schema/type-mask.js";

/** A value that arrived as a string and was converted to the type that the schema expects. */
export interface Coercion {
  /** JSON pointer of the value. */
  readonly path: string;
  /** The type of the value as received. */
  readonly from: "string";
  /** The type that the value was converted to. */
  readonly to: JsonSchemaType;
}

/** The result of a coercion. `value` is the original object if nothing was coerced. */
export interface CoercionResult {
  readonly value: unknown;
  readonly coercions: readonly Coercion[];
}

// Limits on the nesting and on the number of values of JSON inside a string. The limits on messages do not cover such
// JSON. A string beyond a limit is not converted.
const MAX_DEPTH = 128;
const MAX_NODES = 100_000;

const NO_COERCIONS: readonly Coercion[] = Object.freeze([]);

/**
 * Prepares the coercion of stringified values (`"[1,2]"`, `"5"`, `"false"`), which models often send.
 *
 * Converts a string only where the schema does not allow strings and the text is exactly the JSON of an allowed type.
 * Returns undefined if no place in the schema allows a coercion, so that such schemas cost nothing per call.
 */
export function prepareCoercion(schema: JsonSchemaObject): ((value: unknown) => CoercionResult) | undefined {
  const plan = planCoercion(schema);
  if (plan === undefined) return undefined;
  return (value) => {
    const record: CoercionRecord = { coercions: undefined };
    const coerced = apply(plan, value, record, 0);
    return { value: coerced, coercions: record.coercions ?? NO_COERCIONS };
  };
}

/** Coerces one value. Use `prepareCoercion` to coerce many values with the same schema. */
export function coerceArguments(value: unknown, schema: JsonSchemaObject): CoercionResult {
  return prepareCoercion(schema)?.(value) ?? { value, coercions: NO_COERCIONS };
}

/** The coercions of one call. The list is created on the first coercion, because most calls have none. */
interface CoercionRecord {
  coercions: { path: string; from: "string"; to: JsonSchemaType }[] | undefined;
}

function apply(plan: CoercionPlan, value: unknown, record: CoercionRecord, depth: number): unknown {
  if (typeof value === "string") {
    if (plan.mask & TYPE_BITS.string) return value;
    const parsed = parseAs(value, plan.mask);
    if (parsed === undefined) return value;
    record.coercions ??= [];
    record.coercions.push({ path: "", from: "string", to: parsed.type });
    // The parsed value is not a string, so this call does not parse again at the same place.
    return apply(plan, parsed.value, record, depth);
  }
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return plan.items === undefined ? value : applyItems(plan.items, value, record, depth);
  return isSchemaObject(value) ? applyMembers(plan, value, record, depth) : value;
}

/** Applies a plan to a member and prefixes the paths of the coercions inside it with the member's name. */
function applyWithin(
  plan: CoercionPlan,
  key: string | number,
  value: unknown,
  record: CoercionRecord,
  depth: number,
): unknown {
  const before = record.coercions?.length ?? 0;
  const next = apply(plan, value, record, depth + 1);
  if (record.coercions !== undefined && record.coercions.length > before) {
    const prefix = joinPointer("", key);
    for (const coercion of record.coercions.slice(before)) coercion.path = prefix + coercion.path;
  }
  return next;
}

function applyItems(
  plan: CoercionPlan,
  items: readonly unknown[],
  record: CoercionRecord,
  depth: number,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const next = applyWithin(plan, i, items[i], record, depth);
    if (next === items[i]) continue;
    copy ??= [...items];
    copy[i] = next;
  }
  return copy ?? items;
}

type Members = Readonly<Record<string, unknown>>;

function applyMembers(plan: CoercionPlan, members: Members, record: CoercionRecord, depth: number): Members {
  if (plan.properties.size === 0 && plan.additional === undefined) return members;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member !== "string" && typeof member !== "object") continue;
    const below = plan.properties.get(name) ?? plan.additional;
    if (below === undefined) continue;
    const next = applyWithin(below, name, member, record, depth);
    if (next === member) continue;
    copy ??= { ...members };
    // Assignment would set the prototype for a member named "__proto__".
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
    return typeBit(value) === TYPE_BITS[type] && isWithinLimits(value) ? { value, type } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Parses a number. An integer that a double cannot represent exactly stays a string, because converting it would change
 * its value.
 */
function parseNumber(text: string, mask: number): { value: number; type: JsonSchemaType } | undefined {
  const value = Number(text);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return undefined;
  if (mask & TYPE_BITS.number) return { value, type: "number" };
  return mask & TYPE_BITS.integer && Number.isInteger(value) ? { value, type: "integer" } : undefined;
}

/** True if the nesting and size of a parsed value are within the limits. */
function isWithinLimits(value: unknown): boolean {
  let nodes = 0;
  const fits = (part: unknown, depth: number): boolean => {
    if (++nodes > MAX_NODES || depth > MAX_DEPTH) return false;
    if (typeof part !== "object" || part === null) return true;
    return Object.values(part).every((inner) => fits(inner, depth + 1));
  };
  return fits(value, 0);
}

/** The coercions that are allowed at one place of a schema. */
export interface CoercionPlan {
  /** Types that the schema allows here. A string is coerced only if the string bit is absent. */
  mask: number;
  /** The plans of the named properties. */
  properties: Map<string, CoercionPlan>;
  /** The plan for properties that `properties` does not name. */
  additional: CoercionPlan | undefined;
  /** The plan for the items of an array. */
  items: CoercionPlan | undefined;
}

// Maximum number of plans for one schema, which bounds the work for hostile schemas. Places beyond the limit are still
// validated, but not coerced.
const MAX_PLANS = 2_000;

/** The state shared by all calls of `planFor` for one schema. */
interface PlanContext {
  readonly root: JsonSchemaObject;
  readonly known: Map<JsonSchemaObject, CoercionPlan>;
}

/** Finds the places where a schema does not allow strings. Returns undefined if there are none. */
function planCoercion(schema: JsonSchemaObject): CoercionPlan | undefined {
  const plan = planFor(schema, { root: schema, known: new Map() });
  return prune(plan, new Map()) ? plan : undefined;
}

/** A plan that coerces nothing. */
function emptyPlan(): CoercionPlan {
  return { mask: ANY_TYPE, properties: new Map(), additional: undefined, items: undefined };
}

function planFor(schema: unknown, planning: PlanContext): CoercionPlan {
  if (!isSchemaObject(schema)) return emptyPlan();
  const known = planning.known.get(schema);
  if (known !== undefined) return known;
  const plan = emptyPlan();
  if (planning.known.size >= MAX_PLANS) return plan;
  planning.known.set(schema, plan);
  if (typeof schema.$ref === "string") {
    // Keywords beside a reference can only narrow its types, so following the reference is enough.
    const resolved = planFor(resolveLocalRef(schema.$ref, planning.root), planning);
    planning.known.set(schema, resolved);
    return resolved;
  }
  plan.mask = allowedTypes(schema);
  for (const alternatives of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(alternatives)) combine(plan, alternatives, planning);
  }
  if (isSchemaObject(schema.properties)) {
    for (const [name, value] of Object.entries(schema.properties)) plan.properties.set(name, planFor(value, planning));
  }
  if (isSchemaObject(schema.additionalProperties) && schema.patternProperties === undefined) {
    plan.additional = planFor(schema.additionalProperties, planning);
  }
  if (isSchemaObject(schema.items) && schema.prefixItems === undefined) plan.items = planFor(schema.items, planning);
  return plan;
}

/** Returns the bit mask of the types that `type`, `enum` and `const` allow. */
function allowedTypes(schema: JsonSchemaObject): number {
  let mask = ANY_TYPE;
  if (schema.type !== undefined) {
    const names: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
    mask = names.reduce<number>((bits, name) => bits | (isTypeName(name) ? TYPE_BITS[name] : ANY_TYPE), 0);
  }
  if (mask & TYPE_BITS.number) mask |= TYPE_BITS.integer;
  const constant = schema.const === undefined ? undefined : [schema.const];
  const values: unknown = schema.enum ?? constant;
  if (!Array.isArray(values)) return mask;
  return values.reduce<number>((bits, value) => bits | typeBit(value), 0) & mask;
}

/**
 * Merges `anyOf` or `oneOf`: a string is allowed if any alternative allows one.
 *
 * The contents of an array or object are coerced only if exactly one alternative has that type.
 */
function combine(plan: CoercionPlan, alternatives: readonly unknown[], planning: PlanContext): void {
  const plans = alternatives.map((alternative) => planFor(alternative, planning));
  plan.mask &= plans.reduce((bits, { mask }) => bits | mask, 0);
  const [object, otherObject] = plans.filter(({ mask }) => mask & TYPE_BITS.object);
  if (object !== undefined && otherObject === undefined) {
    plan.properties = new Map(object.properties);
    plan.additional = object.additional;
  }
  const [array, otherArray] = plans.filter(({ mask }) => mask & TYPE_BITS.array);
  if (array !== undefined && otherArray === undefined) plan.items = array.items;
}

/** Resolves a reference within the same document. Returns undefined for any other reference. */
function resolveLocalRef(reference: string, root: JsonSchemaObject): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  return splitPointer(reference.slice(1)).reduce<unknown>(pointedMember, root);
}

/** Removes branches with nothing to coerce, so that values below them are not visited. */
function prune(plan: CoercionPlan, useful: Map<CoercionPlan, boolean>): boolean {
  const known = useful.get(plan);
  if (known !== undefined) return known;
  // A recursive plan counts as useful while it is visited. Otherwise it could be removed before a place to coerce is
  // found in it.
  useful.set(plan, true);
  for (const [name, next] of plan.properties) {
    // An empty plan stays if the plan has `additional`, which would otherwise apply to this property.
    if (!prune(next, useful) && plan.additional === undefined) plan.properties.delete(name);
  }
  if (plan.additional !== undefined && !prune(plan.additional, useful)) plan.additional = undefined;
  if (plan.items !== undefined && !prune(plan.items, useful)) plan.items = undefined;
  const here = (plan.mask & TYPE_BITS.string) === 0 && (plan.mask & ~TYPE_BITS.null) !== 0;
  const result = here || plan.properties.size > 0 || plan.additional !== undefined || plan.items !== undefined;
  useful.set(plan, result);
  return result;
}
