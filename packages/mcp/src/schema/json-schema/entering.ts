import type { SchemaResource } from "./schema-resources.js";
import type { Check } from "./validation.js";

/** Adds a schema resource to the dynamic scope while a check runs. */
export function entering(resource: SchemaResource, check: Check): Check {
  return (value, run, seen) => {
    if (run.scope === undefined) return check(value, run, seen);
    run.scope.push(resource);
    const ok = check(value, run, seen);
    run.scope.pop();
    return ok;
  };
}
