import { compileMatcher } from "../../uri-template/match.js";
import { normalizeUri } from "../../uri-template/normalize.js";

/** A template in a list of a server. */
interface Template {
  readonly uriTemplate: string;
}

type Matches = (uri: string) => boolean;

/** Keyed by the list entry. An entry never changes, because lists are always replaced as a whole. */
const MATCHERS = new WeakMap<Template, Matches>();
const STARTS = new WeakMap<Template, string>();

/** True if a listed template matches a URI. An unreadable template counts as matching every URI. */
export function matchesTemplate(template: Template, uri: string): boolean {
  let matches = MATCHERS.get(template);
  if (matches === undefined) {
    matches = matcherOf(template.uriTemplate);
    MATCHERS.set(template, matches);
  }
  return matches(uri);
}

function matcherOf(template: string): Matches {
  try {
    const match = compileMatcher(template);
    return (uri) => match(uri) !== undefined;
  } catch {
    return () => true;
  }
}

/** Matches web addresses. Clients open web links themselves, unless the server lists the address as a resource. */
export const WEB_ADDRESS = /^https?:/i;

/**
 * Budget for matching the links of one result, in compared characters. A server chooses both its links and its
 * templates, and could otherwise cause any amount of work.
 */
const MAX_CHARACTERS = 1_000_000;
/** Minimum cost of one match, even for a short link. */
const MATCH_CHARACTERS = 100;
/** Minimum cost of the first match of a template, which has to be compiled. */
const FIRST_CHARACTERS = 1_000;

/**
 * Creates a check for the web links of one result: true if a link matches a listed template of a web address. All
 * checks share one budget. When the budget is used up, no further link matches.
 */
export function linkMatcher(): (templates: readonly Template[], uri: string) => boolean {
  let left = MAX_CHARACTERS;
  return (templates, uri) => {
    const spelled = left >= 0 ? normalizeUri(uri) : undefined;
    if (spelled === undefined) return false;
    for (const template of templates) {
      left--;
      if (left < 0) return false;
      // Cheap test first: most templates differ from a link before their first variable.
      const start = startOf(template);
      if (!WEB_ADDRESS.test(start) || !spelled.startsWith(start)) continue;
      left -= Math.max(uri.length, MATCHERS.has(template) ? MATCH_CHARACTERS : FIRST_CHARACTERS);
      if (left < 0) return false;
      if (matchesTemplate(template, uri)) return true;
    }
    return false;
  };
}

/**
 * The normalized text before the first variable, up to the first percent-encoded triplet, because triplets have two
 * spellings (`%2f` and `%2F`).
 */
function startOf(template: Template): string {
  let start = STARTS.get(template);
  if (start === undefined) {
    const [literal = ""] = template.uriTemplate.split("{", 1);
    [start = ""] = (normalizeUri(literal) ?? literal).split("%", 1);
    STARTS.set(template, start);
  }
  return start;
}
