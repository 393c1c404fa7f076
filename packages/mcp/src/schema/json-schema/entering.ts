import type { Resource } from "./schema-resources.js";
import type { Check } from "./validation.js";

/** Makes a schema resource part of the dynamic scope while a check runs. */
export function entering(resource: Resource, check: Check): Check {
  return (value, run, seen) => {
    if (run.scope === undefined) return check(value, run, seen);
    run.scope.push(resource);
    const ok = check(value, run, seen);
    run.scope.pop();
    return ok;
  };
}
