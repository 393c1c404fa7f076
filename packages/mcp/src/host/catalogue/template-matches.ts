import { compileMatcher } from "../../uri-template/match.js";
import { normalizeUri } from "../../uri-template/normalize.js";

/** A template as a server lists it. */
interface Template {
  readonly uriTemplate: string;
}

type Matches = (uri: string) => boolean;

/** By the entry in the list, because lists are replaced as a whole. */
const MATCHERS = new WeakMap<Template, Matches>();
const STARTS = new WeakMap<Template, string>();

/** Whether a listed template stands for a URI. One that cannot be read here may stand for any. */
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

/** Links to the web are for clients to follow themselves, unless the server lists the address as a resource. */
export const WEB_ADDRESS = /^https?:/i;

/** Characters that are compared for the links of one result. A server chooses both its links and its templates. */
const MOST_CHARACTERS = 1_000_000;
/** The least that a match counts for, also of a short link. */
const MATCH_CHARACTERS = 100;
/** The same for the first match of a template, which must be compiled. */
const FIRST_CHARACTERS = 1_000;

/**
 * Creates a check of the web links of one result: whether one fits a template of a web address. Its work for all of them is
 * limited; beyond that, links fit none.
 */
export function linkMatcher(): (templates: readonly Template[], uri: string) => boolean {
  let left = MOST_CHARACTERS;
  return (templates, uri) => {
    const spelled = left >= 0 ? normalizeUri(uri) : undefined;
    if (spelled === undefined) return false;
    for (const template of templates) {
      left--;
      if (left < 0) return false;
      // Most templates differ from a link in the text before their first variable.
      const start = startOf(template);
      if (!WEB_ADDRESS.test(start) || !spelled.startsWith(start)) continue;
      left -= Math.max(uri.length, MATCHERS.has(template) ? MATCH_CHARACTERS : FIRST_CHARACTERS);
      if (left < 0) return false;
      if (matchesTemplate(template, uri)) return true;
    }
    return false;
  };
}

/** The text before the first variable, in the spelling of `normalizeUri`, up to the first triplet, which has two spellings. */
function startOf(template: Template): string {
  let start = STARTS.get(template);
  if (start === undefined) {
    const [literal = ""] = template.uriTemplate.split("{", 1);
    [start = ""] = (normalizeUri(literal) ?? literal).split("%", 1);
    STARTS.set(template, start);
  }
  return start;
}
