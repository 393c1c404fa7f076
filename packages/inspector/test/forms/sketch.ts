import type { FormField } from "../../page/forms/model/form-field.js";
import { formFieldOf } from "../../page/forms/model/form-model.js";

/** A form in one line: `{city*:text,unit:choice(c|f)}`; `*` is required, `?` nullable. */
export function sketch(schema: unknown, value?: unknown, root: unknown = schema, depth = 4): string {
  const field = formFieldOf(schema, root, value);
  return `${inner(field, root, depth)}${field.nullable ? "?" : ""}`;
}

function inner(field: FormField, root: unknown, depth: number): string {
  const of = (schema: unknown) => (depth === 0 ? "…" : sketch(schema, undefined, root, depth - 1));
  switch (field.kind) {
    case "text":
      return field.format !== undefined ? `text:${field.format}` : field.multiline ? "lines" : "text";
    case "number":
      return field.integer ? "integer" : "number";
    case "choice":
    case "choices":
      return `${field.kind}(${field.options.map(({ title }) => title).join("|")})`;
    case "object": {
      const members = field.members.map(({ name, schema, required }) => `${name}${required ? "*" : ""}:${of(schema)}`);
      const extras = field.extras.map(({ pattern, schema }) => `${pattern ?? ""}…:${of(schema)}`);
      return `{${[...members, ...extras].join(",")}}`;
    }
    case "array": {
      const rest = field.items === undefined ? [] : [`…${of(field.items)}`];
      return `[${[...field.prefix.map(of), ...rest].join(",")}]`;
    }
    case "branches":
      return `either(${field.branches.map(({ title, schema }) => `${title}=${of(schema)}`).join(" | ")})`;
    case "json":
      return field.problem === undefined ? "json" : `json!${field.problem}`;
    default:
      return field.kind;
  }
}
