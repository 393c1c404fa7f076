import { canonicalText } from "./canonical.js";
import type { Node, Site } from "./site.js";
import { invalid, readCount, readNode, readNodes } from "./site.js";
import type { Check } from "./validation.js";
import { fail, goesOn, issueCount, markItem, nest, spend } from "./validation.js";

type Items = readonly unknown[];

/** The keywords of arrays, but for `unevaluatedItems`. */
export function addArrayKeywords(site: Site): void {
  if (site.resource.dialect.validates) addItemCounts(site);
  if (site.resource.dialect.draft === "draft-07" && Array.isArray(site.schema.items)) {
    addItems(site, readNodes(site, "items") ?? [], readNode(site, "additionalItems"));
  } else {
    if (Array.isArray(site.schema.items)) {
      throw invalid(
        site,
        "items",
        'one schema; a list is called "prefixItems", or "items" where $schema says draft-07',
      );
    }
    const prefix = site.resource.dialect.draft === "2020-12" ? readNodes(site, "prefixItems") : undefined;
    addItems(site, prefix ?? [], readNode(site, "items"));
  }
  addContains(site);
  const { uniqueItems } = site.schema;
  if (uniqueItems !== undefined && typeof uniqueItems !== "boolean") throw invalid(site, "uniqueItems", "a boolean");
  if (uniqueItems === true && site.resource.dialect.validates) site.arrays.push(unique);
}

function addItemCounts(site: Site): void {
  const least = readCount(site, "minItems");
  if (least !== undefined) {
    const message = `must have at least ${least} ${least === 1 ? "item" : "items"}`;
    site.arrays.push((value, run) => value.length >= least || fail(run, "minItems", message));
  }
  const most = readCount(site, "maxItems");
  if (most !== undefined) {
    const message = `must have at most ${most} ${most === 1 ? "item" : "items"}`;
    site.arrays.push((value, run) => value.length <= most || fail(run, "maxItems", message));
  }
}

function addItems(site: Site, prefix: readonly Node[], others: Node | undefined): void {
  if (prefix.length === 0 && others === undefined) return;
  site.arrays.push((value, run, seen) => {
    const end = others === undefined ? Math.min(prefix.length, value.length) : value.length;
    if (seen !== undefined) seen.items = Math.max(seen.items, others === undefined ? end : Number.POSITIVE_INFINITY);
    let ok = true;
    for (let i = 0; i < end; i++) {
      const node = prefix[i] ?? others;
      const before = issueCount(run);
      if (node === undefined || node.check(value[i], run, undefined)) continue;
      nest(run, before, i);
      if (!goesOn(run)) return false;
      ok = false;
    }
    return ok;
  });
}

function addContains(site: Site): void {
  const node = readNode(site, "contains");
  if (node === undefined) return;
  const modern = site.resource.dialect.draft === "2020-12";
  const counted = modern && site.resource.dialect.validates;
  const least = (counted ? readCount(site, "minContains") : undefined) ?? 1;
  const most = (counted ? readCount(site, "maxContains") : undefined) ?? Number.POSITIVE_INFINITY;
  site.arrays.push((value, run, seen) => {
    const collected = run.issues;
    run.issues = undefined;
    let count = 0;
    for (let i = 0; i < value.length; i++) {
      if (!node.check(value[i], run, undefined)) continue;
      count++;
      if (modern && seen !== undefined) markItem(seen, i);
      // Every matching item counts as looked at, so the walk may stop early only where nobody asks.
      if (seen === undefined && count >= least && most === Number.POSITIVE_INFINITY) break;
    }
    run.issues = collected;
    if (count < least) {
      const items = least === 1 ? "an item" : `${least} items`;
      return fail(run, "contains", `must contain ${items} of the kind that "contains" describes`);
    }
    return (
      count <= most || fail(run, "maxContains", `must contain at most ${most} items of the kind "contains" describes`)
    );
  });
}

const unique: Check<Items> = (value, run) => {
  const seenTexts = new Map<unknown, number>();
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    spend(run, 4);
    // Numbers, booleans and null are their own keys; all else is told apart by its text.
    const key =
      typeof item === "string" || (typeof item === "object" && item !== null) ? canonicalText(item, run) : item;
    const earlier = seenTexts.get(key);
    if (earlier !== undefined) return fail(run, "uniqueItems", `must not repeat items: ${earlier} and ${i} are equal`);
    seenTexts.set(key, i);
  }
  return true;
};
