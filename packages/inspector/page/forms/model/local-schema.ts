import { isJsonObject, memberOf } from "./json-members.js";

/** Maximum number of definitions per keyword that are searched for an anchor or an id. Further ones are not found. */
const MAX_SEARCHED = 1_000;

/**
 * Resolves a reference within `root`, or returns the reason why the reference cannot be resolved. Never fetches
 * anything.
 */
export function localSchema(
  reference: string,
  root: unknown,
): { readonly schema: unknown } | { readonly problem: string } {
  if (reference === "#") return { schema: root };
  if (reference.startsWith("#/")) {
    const schema = atPointer(root, reference.slice(2));
    return schema === undefined ? { problem: `The schema has no ${reference}.` } : { schema };
  }
  const named = definitionsOf(root).find((definition) =>
    reference.startsWith("#")
      ? memberOf(definition, "$anchor") === reference.slice(1) ||
        memberOf(definition, "$dynamicAnchor") === reference.slice(1)
      : memberOf(definition, "$id") === reference,
  );
  if (named !== undefined) return { schema: named };
  return {
    problem: reference.startsWith("#")
      ? `The schema has no ${reference}.`
      : `The schema refers to ${reference}, which is not fetched.`,
  };
}

function definitionsOf(root: unknown): unknown[] {
  const found: unknown[] = [root];
  for (const keyword of ["$defs", "definitions"]) {
    const definitions = memberOf(root, keyword);
    if (isJsonObject(definitions)) found.push(...Object.values(definitions).slice(0, MAX_SEARCHED));
  }
  return found;
}

function atPointer(root: unknown, pointer: string): unknown {
  let at: unknown = root;
  for (const step of pointer.split("/")) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    at = Array.isArray(at) ? (/^[0-9]+$/.test(name) ? at[Number(name)] : undefined) : memberOf(at, name);
    if (at === undefined) return undefined;
  }
  return at;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
