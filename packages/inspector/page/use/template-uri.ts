import { expandUriTemplate, parseUriTemplate, type TemplatePart } from "@parley/mcp/protocol";

/** A variable of a URI template. */
export interface TemplateVariable {
  readonly name: string;
  /** True if the template still yields a valid URI without the variable. */
  readonly optional: boolean;
}

/** Maximum number of displayed variables. Further variables are omitted. */
const MAX_VARIABLES = 100;

/** Returns the variables of a template, each once, in order. Empty if the template is invalid. */
export function templateVariables(template: string): readonly TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  for (const part of partsOf(template) ?? []) {
    if (part.kind === "literal") continue;
    for (const { name } of part.variables) {
      if (found.has(name) || found.size >= MAX_VARIABLES) continue;
      found.set(name, { name, optional: part.operator !== "" && part.operator !== "+" });
    }
  }
  return [...found.values()];
}

/** Expands a template. Leaves out variables without a value. Returns an invalid template unchanged. */
export function templateUri(template: string, values: Readonly<Record<string, string>>): string {
  const parts = partsOf(template);
  return parts === undefined ? template : expandUriTemplate(parts, values);
}

function partsOf(template: string): readonly TemplatePart[] | undefined {
  try {
    return parseUriTemplate(template);
  } catch {
    return undefined;
  }
}
