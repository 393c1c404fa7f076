import { type ChoiceOption, MAX_OPTIONS } from "./form-field.js";
import { isJsonObject } from "./json-members.js";
import { localSchema } from "./local-schema.js";
import type { SchemaObject } from "./merge-schemas.js";

/**
 * The values listed in a schema: by `enum` (with `enumNames`), `const`, or `oneOf` and `anyOf` of constants with
 * titles. Undefined if the schema lists none or too many.
 */
export function choiceOptions(schema: SchemaObject, root: unknown): readonly ChoiceOption[] | undefined {
  if (Object.hasOwn(schema, "const")) return [optionOf(schema["const"], undefined)];
  if (Array.isArray(schema["enum"])) return optionsOf(schema["enum"], schema["enumNames"] ?? schema["x-enumNames"]);
  const either = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(either) || either.length === 0 || either.length > MAX_OPTIONS) return undefined;
  const options = either.map((each) => constantsOf(each, root));
  return options.every((each) => each !== undefined) ? unique(options.flat()) : undefined;
}

/** The constants of one alternative. */
function constantsOf(alternative: unknown, root: unknown): readonly ChoiceOption[] | undefined {
  if (!isJsonObject(alternative)) return undefined;
  const { $ref, title, description } = alternative;
  if (typeof $ref === "string") {
    const found = localSchema($ref, root);
    // Follows only one reference, so that circular references cannot cause an endless loop. A list of constants rarely
    // needs more.
    return "schema" in found && isJsonObject(found.schema) && found.schema["$ref"] === undefined
      ? constantsOf(found.schema, root)
      : undefined;
  }
  if (Object.hasOwn(alternative, "const")) return [optionOf(alternative["const"], title, description)];
  const values = alternative["enum"];
  if (Array.isArray(values))
    return optionsOf(values, alternative["enumNames"], values.length === 1 ? title : undefined);
  return alternative["type"] === "null" ? [optionOf(null, title)] : undefined;
}

function optionsOf(values: readonly unknown[], names: unknown, title?: unknown): readonly ChoiceOption[] | undefined {
  if (values.length === 0 || values.length > MAX_OPTIONS) return undefined;
  const titles: readonly unknown[] = Array.isArray(names) ? names : [];
  return unique(values.map((value, index) => optionOf(value, titles[index] ?? title)));
}

function optionOf(value: unknown, title: unknown, description?: unknown): ChoiceOption {
  return {
    value,
    title:
      typeof title === "string" && title !== "" ? title : typeof value === "string" ? value : JSON.stringify(value),
    description: typeof description === "string" ? description : undefined,
  };
}

function unique(options: readonly ChoiceOption[]): readonly ChoiceOption[] {
  const seen = new Set<string>();
  return options.filter(({ value }) => {
    const text = JSON.stringify(value);
    return !seen.has(text) && seen.add(text) !== undefined;
  });
}
