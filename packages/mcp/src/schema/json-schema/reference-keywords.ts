import { type Node, readString, type SchemaBuilder } from "./schema-builder.js";
import type { LocatedSchema } from "./schema-resources.js";
import { type Check, tooComplex, withDynamicScope } from "./validation.js";

/** Adds `$ref` and `$dynamicRef`. */
export function addReferenceKeywords(builder: SchemaBuilder): void {
  const ref = readString(builder, "$ref");
  if (ref !== undefined) builder.rest.push(nodeCheck(targetNode(builder, resolve(builder, ref, "$ref"))));
  if (builder.resource.dialect === "draft-07") return;
  const dynamicRef = readString(builder, "$dynamicRef");
  if (dynamicRef !== undefined) builder.rest.push(dynamicCheck(builder, dynamicRef));
}

function resolve(builder: SchemaBuilder, reference: string, keyword: string): LocatedSchema {
  return builder.compiler.resources.resolve(reference, builder.resource, `${builder.path}/${keyword}`);
}

function targetNode(builder: SchemaBuilder, target: LocatedSchema): Node {
  const node = builder.compiler.node(target.schema, target.resource, target.path);
  if (target.resource === builder.resource) return node;
  // The node may not be compiled yet, so read `node.check` only when the check runs.
  return { check: withDynamicScope(target.resource, (value, run, seen) => node.check(value, run, seen)) };
}

/**
 * Calls a node that may not be compiled yet. All recursion passes through this function, so the depth is counted here.
 */
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
 * Resolves `$dynamicRef`. A target that "was created by the "$dynamicAnchor" keyword" is replaced by the target in "the
 * outermost schema resource in the dynamic scope that defines an identically named fragment with "$dynamicAnchor"".
 *
 * Spec: JSON Schema core 2020-12, 8.2.3.2
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
      return nodeCheck({ check: withDynamicScope(resource, node.check) })(value, run, seen);
    }
    return fallback(value, run, seen);
  };
}
