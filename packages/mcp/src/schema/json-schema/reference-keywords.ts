import { entering } from "./entering.js";
import type { Located } from "./schema-resources.js";
import type { Node, Site } from "./site.js";
import { readString } from "./site.js";
import type { Check } from "./validation.js";
import { tooComplex } from "./validation.js";

/** `$ref` and `$dynamicRef`. */
export function addReferenceKeywords(site: Site): void {
  const ref = readString(site, "$ref");
  if (ref !== undefined) site.rest.push(nodeCheck(targetNode(site, resolve(site, ref, "$ref"))));
  if (site.resource.dialect.draft === "draft-07") return;
  const dynamicRef = readString(site, "$dynamicRef");
  if (dynamicRef !== undefined) site.rest.push(dynamicCheck(site, dynamicRef));
}

function resolve(site: Site, reference: string, keyword: string): Located {
  return site.compiler.resources.resolve(reference, site.resource, `${site.path}/${keyword}`);
}

function targetNode(site: Site, target: Located): Node {
  const node = site.compiler.node(target.schema, target.resource, target.path);
  if (target.resource === site.resource) return node;
  // The node may still be under construction here, so its check is looked up when it runs.
  return { check: entering(target.resource, (value, run, seen) => node.check(value, run, seen)) };
}

/** Calls a node that may be under construction; recursion passes through here, so depth is counted here. */
function nodeCheck(node: Node): Check {
  return (value, run, seen) => {
    if (++run.depth > run.budget.depth) {
      throw tooComplex(`follows more than ${run.budget.depth} nested references`, "limits.depth");
    }
    const ok = node.check(value, run, seen);
    run.depth--;
    return ok;
  };
}

/**
 * "If the initially resolved starting point URI includes a fragment that was created by the "$dynamicAnchor" keyword,
 * the initial URI MUST be replaced by the URI (including fragment) for the outermost schema resource in the dynamic
 * scope that defines an identically named fragment with "$dynamicAnchor"." (JSON Schema core 2020-12, 8.2.3.2)
 */
function dynamicCheck(site: Site, reference: string): Check {
  const initial = resolve(site, reference, "$dynamicRef");
  const fallback = nodeCheck(targetNode(site, initial));
  const name = reference.slice(reference.indexOf("#") + 1);
  if (initial.resource.dynamicAnchors.get(name)?.schema !== initial.schema) return fallback;
  const targets = site.compiler.dynamicNodes(name);
  return (value, run, seen) => {
    for (const resource of run.scope ?? []) {
      const node = targets.get(resource);
      if (node === undefined) continue;
      return nodeCheck({ check: entering(resource, node.check) })(value, run, seen);
    }
    return fallback(value, run, seen);
  };
}
