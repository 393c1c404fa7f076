import { compileMatcher } from "../../uri-template/match.js";

type Matches = (uri: string) => boolean;

/** By the entry in the list, because lists are replaced as a whole. */
const MATCHERS = new WeakMap<object, Matches>();

/** Whether a listed template stands for a URI. One that cannot be read here may stand for any. */
export function matchesTemplate(template: { readonly uriTemplate: string }, uri: string): boolean {
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
