import { expandUriTemplate, parseUriTemplate, type TemplatePart } from "@parley/mcp/protocol";

/** A variable of a URI template. */
export interface TemplateVariable {
  readonly name: string;
  /** Left out, it leaves a URI that the template can still stand for. */
  readonly optional: boolean;
}

/** Variables that are asked for. */
const MOST_VARIABLES = 100;

/** The variables of a template, each once, in order. One that is not valid has none. */
export function templateVariables(template: string): readonly TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  for (const part of partsOf(template) ?? []) {
    if (part.kind === "literal") continue;
    for (const { name } of part.variables) {
      if (found.has(name) || found.size >= MOST_VARIABLES) continue;
      found.set(name, { name, optional: part.operator !== "" && part.operator !== "+" });
    }
  }
  return [...found.values()];
}

/** The URI that a template stands for with these texts; variables without one are left out. One that is not valid is its own URI. */
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
