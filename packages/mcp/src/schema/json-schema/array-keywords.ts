import { canonicalText } from "./canonical-text.js";
import type { Node, SchemaBuilder } from "./schema-builder.js";
import { addLimit, invalid, readCount, readNode, readNodes } from "./schema-builder.js";
import type { Check } from "./validation.js";
import { fail, issueCount, markItem, nest, spend, wantsMoreIssues } from "./validation.js";

type Items = readonly unknown[];

/** Adds the array keywords, except `unevaluatedItems`. */
export function addArrayKeywords(builder: SchemaBuilder): void {
  addItemCounts(builder);
  if (builder.resource.dialect === "draft-07" && Array.isArray(builder.schema.items)) {
    addItems(builder, readNodes(builder, "items") ?? [], readNode(builder, "additionalItems"));
  } else {
    if (Array.isArray(builder.schema.items)) {
      throw invalid(builder, "items", 'one schema; use "prefixItems" for a list, or set $schema to draft-07');
    }
    const prefix = builder.resource.dialect === "2020-12" ? readNodes(builder, "prefixItems") : undefined;
    addItems(builder, prefix ?? [], readNode(builder, "items"));
  }
  addContains(builder);
  const { uniqueItems } = builder.schema;
  if (uniqueItems !== undefined && typeof uniqueItems !== "boolean") throw invalid(builder, "uniqueItems", "a boolean");
  if (uniqueItems === true) builder.arrays.push(unique);
}

function addItemCounts(builder: SchemaBuilder): void {
  const units = ["item", "items"] as const;
  addLimit(builder, builder.arrays, "minItems", units, (value, least) => value.length >= least);
  addLimit(builder, builder.arrays, "maxItems", units, (value, most) => value.length <= most);
}

function addItems(builder: SchemaBuilder, prefix: readonly Node[], others: Node | undefined): void {
  if (prefix.length === 0 && others === undefined) return;
  builder.arrays.push((value, run, seen) => {
    const end = others === undefined ? Math.min(prefix.length, value.length) : value.length;
    if (seen !== undefined) seen.items = Math.max(seen.items, others === undefined ? end : Number.POSITIVE_INFINITY);
    let ok = true;
    for (let i = 0; i < end; i++) {
      const node = prefix[i] ?? others;
      const before = issueCount(run);
      if (node === undefined || node.check(value[i], run, undefined)) continue;
      nest(run, before, i);
      if (!wantsMoreIssues(run)) return false;
      ok = false;
    }
    return ok;
  });
}

function addContains(builder: SchemaBuilder): void {
  const node = readNode(builder, "contains");
  if (node === undefined) return;
  const modern = builder.resource.dialect === "2020-12";
  const least = (modern ? readCount(builder, "minContains") : undefined) ?? 1;
  const most = (modern ? readCount(builder, "maxContains") : undefined) ?? Number.POSITIVE_INFINITY;
  builder.arrays.push((value, run, seen) => {
    const collected = run.issues;
    run.issues = undefined;
    let count = 0;
    for (let i = 0; i < value.length; i++) {
      if (!node.check(value[i], run, undefined)) continue;
      count++;
      if (modern && seen !== undefined) markItem(seen, i);
      // Every matching item counts as evaluated, so the loop may stop early only if `seen` is not recorded.
      if (seen === undefined && count >= least && most === Number.POSITIVE_INFINITY) break;
    }
    run.issues = collected;
    if (count < least) {
      const items = least === 1 ? "an item that matches" : `${least} items that match`;
      return fail(run, "contains", `must contain ${items} "contains"`);
    }
    return count <= most || fail(run, "maxContains", `must contain at most ${most} items that match "contains"`);
  });
}

const unique: Check<Items> = (value, run) => {
  const seenTexts = new Map<unknown, number>();
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    spend(run, 4);
    // Numbers, booleans and null are their own keys; everything else is compared by its canonical text.
    const key =
      typeof item === "string" || (typeof item === "object" && item !== null) ? canonicalText(item, run) : item;
    const earlier = seenTexts.get(key);
    if (earlier !== undefined)
      return fail(run, "uniqueItems", `must not repeat items, but items ${earlier} and ${i} are equal`);
    seenTexts.set(key, i);
  }
  return true;
};
