import { pointedMember, splitPointer } from "./json-schema/json-pointer.js";
import { isSchemaObject } from "./json-schema/schema-resources.js";
import { ANY_TYPE, isTypeName, TYPE_BITS, typeBit } from "./json-schema/type-mask.js";
import type { JsonSchemaObject } from "./json-schema.js";

/** Which coercions are allowed at one place of a schema. */
export interface CoercionPlan {
  /** Types that the schema allows here; a string is coerced only if the string bit is absent. */
  mask: number;
  properties: Map<string, CoercionPlan>;
  additional: CoercionPlan | undefined;
  items: CoercionPlan | undefined;
}

// Bounds the work for hostile schemas. Places beyond the limit are still validated, just not coerced.
const MAX_PLANS = 2_000;

interface Planning {
  readonly root: JsonSchemaObject;
  readonly known: Map<JsonSchemaObject, CoercionPlan>;
}

/** Finds the places where a schema does not allow strings; undefined when there are none. */
export function planCoercion(schema: JsonSchemaObject): CoercionPlan | undefined {
  const plan = planFor(schema, { root: schema, known: new Map() });
  return prune(plan, new Map()) ? plan : undefined;
}

function untouched(): CoercionPlan {
  return { mask: ANY_TYPE, properties: new Map(), additional: undefined, items: undefined };
}

function planFor(schema: unknown, planning: Planning): CoercionPlan {
  if (!isSchemaObject(schema)) return untouched();
  const known = planning.known.get(schema);
  if (known !== undefined) return known;
  const plan = untouched();
  if (planning.known.size >= MAX_PLANS) return plan;
  planning.known.set(schema, plan);
  if (typeof schema.$ref === "string") {
    // Keywords beside a reference can only narrow it, so following the reference is enough.
    const resolved = planFor(lookUp(schema.$ref, planning.root), planning);
    planning.known.set(schema, resolved);
    return resolved;
  }
  plan.mask = admitted(schema);
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

/** The types that `type`, `enum` and `const` allow. */
function admitted(schema: JsonSchemaObject): number {
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
 * Merges `anyOf` or `oneOf`: a string is allowed when any alternative allows one.
 *
 * The contents of an array or object are coerced only when exactly one alternative has that type.
 */
function combine(plan: CoercionPlan, alternatives: readonly unknown[], planning: Planning): void {
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

function lookUp(reference: string, root: JsonSchemaObject): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  return splitPointer(reference.slice(1)).reduce<unknown>(pointedMember, root);
}

/** Removes branches with nothing to coerce, so that values below them are not visited. */
function prune(plan: CoercionPlan, useful: Map<CoercionPlan, boolean>): boolean {
  const known = useful.get(plan);
  if (known !== undefined) return known;
  // A recursive plan counts as useful while it is visited; removing it too early would lose places to coerce.
  useful.set(plan, true);
  for (const [name, next] of plan.properties) {
    // An empty plan stays if removing it would let `additional` apply to this property.
    if (!prune(next, useful) && plan.additional === undefined) plan.properties.delete(name);
  }
  if (plan.additional !== undefined && !prune(plan.additional, useful)) plan.additional = undefined;
  if (plan.items !== undefined && !prune(plan.items, useful)) plan.items = undefined;
  const here = (plan.mask & TYPE_BITS.string) === 0 && (plan.mask & ~TYPE_BITS.null) !== 0;
  const result = here || plan.properties.size > 0 || plan.additional !== undefined || plan.items !== undefined;
  useful.set(plan, result);
  return result;
}
