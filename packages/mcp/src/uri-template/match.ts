import {
  type MatchElement,
  type MatchProgram,
  matchElements,
  matchProgram,
  type NamedElement,
  type ValueElement,
} from "./match-program.js";
import { normalizeUri, upperCaseTriplets } from "./normalize.js";
import { parseUriTemplate, type TemplatePart, type TemplateVariable } from "./parse.js";
import { charactersBetween, type Reachability, reachability } from "./reachability.js";

/** Options of a matcher. */
export interface MatcherOptions {
  /**
   * Maximum length of a URI, in UTF-16 units. Longer URIs do not match. Default: 131,072, because real URIs stay below
   * 64 KiB.
   */
  readonly maxUriLength?: number;
}

const DEFAULT_MAX_URI_LENGTH = 131_072;

/**
 * Compiles a template into a function that extracts the variables from a URI. It returns `undefined` if the URI does
 * not match.
 *
 * The function never throws, and takes time linear in the length of the URI. Rules:
 *
 * - `{a}` and `{+a}` need at least one character. `{a}` ends before `/`, `?` and `#` (in a query before `&` and `#`) and,
 *   in `{a,b}`, before a comma; `{+a}` matches anything except the query or fragment that follows it in the template.
 *   `{/a}`, `{.a}` and `{#a}` are optional.
 * - `{?a,b}`, `{&a,b}` and `{;a,b}` are optional and match any subset in any order; unknown parameters are ignored, and
 *   the first of two equal names is used.
 * - `{a*}` returns a list: repeated parameters, or items separated by `,`, `/` or `.`. `{a:3}` matches at most 3
 *   characters.
 * - If a URI can be matched in several ways, each variable from left to right matches as much as possible, but leaves
 *   the optional parts after it present: `{name}{.ext}` on `a.b.c` returns `a.b` and `c`. A variable that occurs twice
 *   must have the same value both times.
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
  // Most URIs that do not match a template differ in its prefix or suffix. Comparing these first lets a server with
  // many templates reject such URIs cheaply.
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

/**
 * True if a text ends inside a percent-encoded triplet. In that case the suffix was cut off in the middle of a triplet,
 * such as "F" of "%2F".
 */
function cutsTriplet(text: string): boolean {
  return text.endsWith("%") || text.charAt(text.length - 2) === "%";
}

/** Variables of one match: strings, and lists for exploded variables. Variables absent from the URI are omitted. */
export type MatchedVariables = Record<string, string | string[]>;

/**
 * The named variables of a template, keyed by separator and decoded name. The map covers the whole template, because
 * the text of one named expression may contain parameters of another.
 */
export type NamedVariables = ReadonlyMap<string, TemplateVariable>;

function namedVariables(parts: readonly TemplatePart[]): NamedVariables {
  const named = new Map<string, TemplateVariable>();
  for (const part of parts) {
    if (part.kind === "literal" || part.operator === "" || !";?&".includes(part.operator)) continue;
    const separator = part.operator === ";" ? ";" : "&";
    for (const variable of part.variables) {
      named.set(separator + decode(normalizeUri(variable.name) ?? variable.name), variable);
    }
  }
  return named;
}

/**
 * Extracts the variables from a text that matches.
 *
 * Moves forward only to positions from which the rest is known to match, so it never backtracks. Returns `undefined` if
 * a variable occurs twice with different values, or if a named value is too long.
 */
function readVariables(
  program: MatchProgram,
  text: string,
  reach: Reachability,
  named: NamedVariables,
): MatchedVariables | undefined {
  const found = new Map<string, string | string[]>();
  let at = 0;
  for (let index = 0; index < program.elements.length; index++) {
    const element = program.elements[index];
    if (element === undefined || element.kind === "literal") {
      at += element?.text.length ?? 0;
      continue;
    }
    if (element.lead !== -1 && (((reach.present[at] ?? 0) >>> index) & 1) === 0) continue;
    const start = element.lead === -1 ? at : at + 1;
    at = endOf(element, reach, index, start, runEnd(element, reach, text, start), program.optional);
    const part = text.slice(start, at);
    const fits = element.kind === "named" ? addNamed(element, part, named, found) : addValue(element, part, found);
    if (!fits) return undefined;
  }
  // fromEntries defines properties, so a variable called `__proto__` is ordinary data.
  return Object.fromEntries(found);
}

/** Returns the end of the run of characters that the element accepts, up to its maximum length. */
function runEnd(element: ValueElement | NamedElement, reach: Reachability, text: string, start: number): number {
  let end = text.length;
  for (const stop of element.stops) {
    const at = text.indexOf(stop, start);
    if (at !== -1 && at < end) end = at;
  }
  if (element.kind === "named" || end - start <= element.maxLength) return end;
  let last = start + element.maxLength;
  while (last < end && charactersBetween(reach.characters, start, last + 1) <= element.maxLength) last++;
  return last;
}

/**
 * Returns the farthest end up to `last` from which the rest matches. Prefers an end after which the following optional
 * elements are present.
 */
function endOf(
  element: ValueElement | NamedElement,
  { open, present }: Reachability,
  index: number,
  start: number,
  last: number,
  optional: number,
): number {
  const next = 1 << (index + 1);
  // The chain consists of the optional elements right after this one. Adding a bit at its lower end carries through the
  // chain and clears it.
  const following = optional & ~(next - 1);
  const chain = following & ~(following + next);
  /** Elements of the chain whose presence would improve on the end found so far. */
  let better = chain;
  let end = -1;
  const first = element.lead === -1 ? start + 1 : start;
  for (let at = last; at >= first && (end === -1 || better !== 0); at--) {
    if (((open[at] ?? 0) & next) === 0) continue;
    const kept = (present[at] ?? 0) & better;
    if (end !== -1 && kept === 0) continue;
    end = at;
    if (kept !== 0) better &= (kept & -kept) - 1;
  }
  return end;
}

function addValue(element: ValueElement, text: string, found: Map<string, string | string[]>): boolean {
  const { name, explode } = element.variable;
  return add(found, name, explode ? text.split(element.separator).map(decode) : decode(text));
}

function add(found: Map<string, string | string[]>, name: string, value: string | string[]): boolean {
  const former = found.get(name);
  if (former !== undefined) return JSON.stringify(former) === JSON.stringify(value);
  found.set(name, value);
  return true;
}

function addNamed(
  element: NamedElement,
  text: string,
  named: NamedVariables,
  found: Map<string, string | string[]>,
): boolean {
  const values = new Map<TemplateVariable, string[]>();
  for (const parameter of text.split(element.separator)) {
    const equals = parameter.indexOf("=");
    const variable = named.get(element.separator + decode(equals === -1 ? parameter : parameter.slice(0, equals)));
    if (variable === undefined) continue;
    const value = equals === -1 ? "" : decode(parameter.slice(equals + 1));
    const former = values.get(variable);
    if (former === undefined) values.set(variable, [value]);
    else if (variable.explode) former.push(value);
  }
  for (const [{ name, explode, prefix }, all] of values) {
    const first = all[0] ?? "";
    if (prefix !== undefined && Array.from(first).length > prefix) return false;
    if (!add(found, name, explode ? all : first)) return false;
  }
  return true;
}

/** Decodes all triplets. Cannot throw, because after `normalizeUri` every triplet is an ASCII character. */
function decode(text: string): string {
  return text.includes("%") ? decodeURIComponent(text) : text;
}
