import { type Node, readString, type SchemaBuilder } from "./schema-builder.js";
import type { Located } from "./schema-resources.js";
import { type Check, entering, tooComplex } from "./validation.js";

/** `$ref` and `$dynamicRef`. */
export function addReferenceKeywords(builder: SchemaBuilder): void {
  const ref = readString(builder, "$ref");
  if (ref !== undefined) builder.rest.push(nodeCheck(targetNode(builder, resolve(builder, ref, "$ref"))));
  if (builder.resource.dialect === "draft-07") return;
  const dynamicRef = readString(builder, "$dynamicRef");
  if (dynamicRef !== undefined) builder.rest.push(dynamicCheck(builder, dynamicRef));
}

function resolve(builder: SchemaBuilder, reference: string, keyword: string): Located {
  return builder.compiler.resources.resolve(reference, builder.resource, `${builder.path}/${keyword}`);
}

function targetNode(builder: SchemaBuilder, target: Located): Node {
  const node = builder.compiler.node(target.schema, target.resource, target.path);
  if (target.resource === builder.resource) return node;
  // The node may still be compiling, so its check is read when it runs.
  return { check: entering(target.resource, (value, run, seen) => node.check(value, run, seen)) };
}

/** Calls a node that may still be compiling. All recursion passes through here, so depth is counted here. */
function nodeCheck(node: Node): Check {
  return (value, run, seen) => {
    if (++run.depth > run.budget.depth) {
      throw tooComplex(`follows more than ${run.budget.depth} nested references`);
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
function dynamicCheck(builder: SchemaBuilder, reference: string): Check {
  const initial = resolve(builder, reference, "$dynamicRef");
  const fallback = nodeCheck(targetNode(builder, initial));
  const name = reference.slice(reference.indexOf("#") + 1);
  if (initial.resource.dynamicAnchors.get(name)?.schema !== initial.schema) return fallback;
  const targets = builder.compiler.dynamicNodes(name);
  return (value, run, seen) => {
    for (const resource of run.scope ?? []) {
      const node = targets.get(resource);
      if (node === undefined) continue;
      return nodeCheck({ check: entering(resource, node.check) })(value, run, seen);
    }
    return fallback(value, run, seen);
  };
}
