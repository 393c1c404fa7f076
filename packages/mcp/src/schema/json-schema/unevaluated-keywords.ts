import type { Node, SchemaBuilder } from "./schema-builder.js";
import { readNode } from "./schema-builder.js";
import { isSchemaObject } from "./schema-resources.js";
import type { Check, Seen } from "./validation.js";
import { fail, goesOn, issueCount, mergeSeen, nest, newSeen, spend } from "./validation.js";

/** Adds `unevaluatedProperties` and `unevaluatedItems`, which apply to what the other keywords did not evaluate. */
export function withUnevaluated(builder: SchemaBuilder, others: Check): Check {
  if (builder.resource.dialect === "draft-07") return others;
  const properties = readNode(builder, "unevaluatedProperties");
  const items = readNode(builder, "unevaluatedItems");
  if (properties === undefined && items === undefined) return others;
  return (value, run, outer) => {
    const seen = newSeen(run);
    // After a failure it is unknown which parts were evaluated.
    if (!others(value, run, seen)) return false;
    if (items !== undefined && Array.isArray(value) && !checkItems(items, value, run, seen)) return false;
    if (properties !== undefined && isSchemaObject(value) && !checkProperties(properties, value, run, seen)) {
      return false;
    }
    if (outer !== undefined) mergeSeen(run, outer, seen);
    return true;
  };
}

function checkItems(node: Node, value: readonly unknown[], run: Parameters<Check>[1], seen: Seen): boolean {
  let ok = true;
  for (let i = seen.items; i < value.length; i++) {
    spend(run, 1);
    if (seen.someItems?.has(i)) continue;
    const before = issueCount(run);
    if (node.check(value[i], run, undefined)) continue;
    nest(run, before, i);
    if (!goesOn(run)) return false;
    ok = false;
  }
  seen.items = Number.POSITIVE_INFINITY;
  return ok;
}

function checkProperties(
  node: Node,
  value: Readonly<Record<string, unknown>>,
  run: Parameters<Check>[1],
  seen: Seen,
): boolean {
  let ok = true;
  for (const name of Object.keys(value)) {
    spend(run, 1);
    if (seen.allProperties || seen.properties?.has(name)) continue;
    const before = issueCount(run);
    if (node.check(value[name], run, undefined)) continue;
    if (issueCount(run) === before) fail(run, "unevaluatedProperties", `must not be present`);
    nest(run, before, name);
    if (!goesOn(run)) return false;
    ok = false;
  }
  seen.allProperties = true;
  return ok;
}
