import { type MatchElement, matchElements } from "./match-element.js";
import { matchProgram } from "./match-program.js";
import { normalizeUri, upperCaseTriplets } from "./normalize.js";
import { parseTemplate, type TemplatePart } from "./parse.js";
import { reachability } from "./reachability.js";
import { type MatchedVariables, namedVariables, readVariables } from "./read-variables.js";

export type { MatchedVariables };

export interface MatcherOptions {
  /** URIs with more UTF-16 units match nothing. Default 131,072: twice what any server needs to take. */
  readonly maxUriLength?: number;
}

const DEFAULT_MAX_URI_LENGTH = 131_072;

/**
 * Compiles a template into a function that reads the variables back out of a URI, or says `undefined`.
 *
 * The function never throws, and takes time in proportion to the length of the URI. Rules:
 *
 * - `{a}` and `{+a}` need at least one character. `{a}` ends before `/`, `?` and `#` (in a query before `&` and `#`) and,
 *   in `{a,b}`, before a comma; `{+a}` takes anything, but not the query or
 *   fragment that the template has after it. `{/a}`, `{.a}` and `{#a}` may be absent.
 * - `{?a,b}`, `{&a,b}` and `{;a,b}` may be absent and match any subset in any order; parameters that the template does not
 *   name are ignored, and of one given twice the first counts.
 * - `{a*}` gives a list, of repeated parameters or of what `,`, `/` or `.` separates. `{a:3}` matches at most 3 characters.
 * - Where several readings are possible, each variable, from left to right, takes as much as it can, but leaves room for
 *   the optional parts that follow it: `{name}{.ext}` on `a.b.c` gives `a.b` and `c`. A variable that occurs twice must
 *   have one value.
 * - Values are percent-decoded. A control character, malformed percent-encoding or invalid UTF-8 matches nothing.
 *
 * Throws `UriTemplateError` for a template that is not allowed.
 */
export function compileMatcher(
  template: string | readonly TemplatePart[],
  options: MatcherOptions = {},
): (uri: string) => MatchedVariables | undefined {
  const parts = typeof template === "string" ? parseTemplate(template) : template;
  const all = matchElements(parts);
  const named = namedVariables(parts);
  const maxUriLength = options.maxUriLength ?? DEFAULT_MAX_URI_LENGTH;
  // Most URIs that do not match differ in these; a server with many templates answers from them alone.
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

/** Whether the suffix began inside a percent-encoded triplet, as "F" does in "%2F". */
function cutsTriplet(text: string): boolean {
  return text.endsWith("%") || text.charAt(text.length - 2) === "%";
}
