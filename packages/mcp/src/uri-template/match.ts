import { type MatchElement, matchElements } from "./match-element.js";
import { matchProgram } from "./match-program.js";
import { normalizeUri, upperCaseTriplets } from "./normalize.js";
import { parseUriTemplate, type TemplatePart } from "./parse.js";
import { reachability } from "./reachability.js";
import { type MatchedVariables, namedVariables, readVariables } from "./read-variables.js";

export type { MatchedVariables };

export interface MatcherOptions {
  /** URIs with more UTF-16 units do not match. Default 131,072, since real URIs stay below 64 KiB. */
  readonly maxUriLength?: number;
}

const DEFAULT_MAX_URI_LENGTH = 131_072;

/**
 * Compiles a template into a function that extracts the variables from a URI; `undefined` if the URI does not match.
 *
 * The function never throws, and takes time linear in the length of the URI. Rules:
 *
 * - `{a}` and `{+a}` need at least one character. `{a}` ends before `/`, `?` and `#` (in a query before `&` and `#`) and,
 *   in `{a,b}`, before a comma; `{+a}` matches anything except the query or fragment that follows it in the template.
 *   `{/a}`, `{.a}` and `{#a}` are optional.
 * - `{?a,b}`, `{&a,b}` and `{;a,b}` are optional and match any subset in any order; unknown parameters are ignored, and
 *   the first of two equal names is used.
 * - `{a*}` gives a list: repeated parameters, or items separated by `,`, `/` or `.`. `{a:3}` matches at most 3 characters.
 * - If several readings are possible, each variable from left to right takes as much as it can while leaving room for
 *   the optional parts after it: `{name}{.ext}` on `a.b.c` gives `a.b` and `c`. A variable that occurs twice must
 *   have the same value both times.
 * - Values are percent-decoded. A URI with a control character, malformed percent-encoding or invalid UTF-8 never matches.
 *
 * Throws `UriTemplateError` for an invalid template.
 */
export function compileMatcher(
  template: string | readonly TemplatePart[],
  options: MatcherOptions = {},
): (uri: string) => MatchedVariables | undefined {
  const parts = typeof template === "string" ? parseUriTemplate(template) : template;
  const all = matchElements(parts);
  const named = namedVariables(parts);
  const maxUriLength = options.maxUriLength ?? DEFAULT_MAX_URI_LENGTH;
  // Most URIs that do not match differ in the prefix or suffix, so a server with many templates rejects them cheaply.
  const prefix = literalText(all[0]);
  const suffix = all.length > 1 ? literalText(all.at(-1)) : "";
  const program = matchProgram(all.slice(prefix === "" ? 0 : 1, suffix === "" ? all.length : -1));
  const hasTriplets = all.some((element) => literalText(element).includes("%"));
  return (uri) => {
    if (uri.length > maxUriLength) return undefined;
    const spelled = normalizeUri(uri);
    if (spelled === undefined) return undefined;
    const normal = hasTriplets ? upperCaseTriplets(spelled) : spelled;
    if (normal.length < prefix.length + suffix.length) return undefined;
    if (!normal.startsWith(prefix) || !normal.endsWith(suffix)) return undefined;
    const text = normal.slice(prefix.length, normal.length - suffix.length);
    if (cutsTriplet(text)) return undefined;
    const reach = reachability(program, text);
    return ((reach.open[0] ?? 0) & 1) === 1 ? readVariables(program, text, reach, named) : undefined;
  };
}

function literalText(element: MatchElement | undefined): string {
  return element?.kind === "literal" ? element.text : "";
}

/** Whether the suffix starts inside a percent-encoded triplet, as "F" does in "%2F". */
function cutsTriplet(text: string): boolean {
  return text.endsWith("%") || text.charAt(text.length - 2) === "%";
}
