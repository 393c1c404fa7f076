import { areDisjoint, type CharSet, type PatternTree } from "./pattern-tree.js";

/** The reason why a backtracking engine matches an unambiguous pattern in linear time. */
export type LinearProof = "anchored" | "short";

// Maximum number of places in a pattern. Comparing places is quadratic, so larger patterns are matched by the
// automaton.
const MAX_PLACES = 300;
/**
 * Maximum length of a match without an anchor, in characters. A search tries every start, so patterns with longer
 * matches are matched by the automaton.
 */
const MAX_SEARCHED_LENGTH = 64;

/**
 * Proves that a backtracking engine matches a pattern in linear time on any text. Returns undefined if it finds no
 * proof.
 *
 * Two conditions are sufficient. First, the next character always determines how the match continues, so that every
 * backtrack fails at once. Second, the match is anchored at the start of the text (`anchored`) or cannot be long
 * (`short`), because a search tries every start.
 */
export function proveLinear(tree: PatternTree): LinearProof | undefined {
  const branches = tree.kind === "either" ? tree.parts : [tree];
  let result: LinearProof = "anchored";
  for (const branch of branches) {
    const parts = branch.kind === "sequence" ? [...branch.parts] : [branch];
    const anchored = isEdge(parts[0], "start");
    if (anchored) parts.shift();
    if (isEdge(parts.at(-1), "end")) parts.pop();
    const body: PatternTree = { kind: "sequence", parts };
    if (!isUnambiguous(body)) return undefined;
    if (anchored) continue;
    if (maxLength(body) > MAX_SEARCHED_LENGTH) return undefined;
    result = "short";
  }
  return result;
}

function isEdge(tree: PatternTree | undefined, at: string): boolean {
  return tree?.kind === "edge" && tree.at === at;
}

/** Returns the length of the longest text that a pattern without lookarounds can match. */
function maxLength(tree: PatternTree): number {
  switch (tree.kind) {
    case "char":
      return 1;
    case "sequence":
      return tree.parts.reduce((sum, part) => sum + maxLength(part), 0);
    case "either":
      return Math.max(...tree.parts.map(maxLength));
    case "repeat":
      return tree.max === 0 ? 0 : maxLength(tree.body) * tree.max;
    default:
      return 0;
  }
}

/** One position of the pattern that consumes a character, with the positions that can follow. */
interface Place {
  readonly set: CharSet;
  readonly next: Place[];
}

interface Shape {
  readonly first: readonly Place[];
  readonly last: readonly Place[];
  readonly empty: boolean;
}

class AmbiguousPattern extends Error {}

/**
 * True if no character can be matched at two places at once.
 *
 * Uses the Glushkov construction, but keeps duplicates: a place that can be reached in two ways, as in `(a+)+`, is as
 * ambiguous as two places that match the same character.
 */
function isUnambiguous(tree: PatternTree): boolean {
  const places: Place[] = [];
  try {
    const { first } = shapeOf(tree, places);
    return isDisjoint(first) && places.every(({ next }) => isDisjoint(next));
  } catch (error) {
    if (error instanceof AmbiguousPattern) return false;
    throw error;
  }
}

function isDisjoint(places: readonly Place[]): boolean {
  return areDisjoint(places.map(({ set }) => set));
}

function join(from: readonly Place[], to: readonly Place[]): void {
  for (const place of from) {
    place.next.push(...to);
    if (place.next.length > MAX_PLACES) throw new AmbiguousPattern();
  }
}

function shapeOf(tree: PatternTree, places: Place[]): Shape {
  switch (tree.kind) {
    case "char": {
      const place: Place = { set: tree.set, next: [] };
      if (places.push(place) > MAX_PLACES) throw new AmbiguousPattern();
      return { first: [place], last: [place], empty: false };
    }
    case "sequence":
      return tree.parts.reduce<Shape>((shape, part) => follow(shape, shapeOf(part, places)), {
        first: [],
        last: [],
        empty: true,
      });
    case "either": {
      const shapes = tree.parts.map((part) => shapeOf(part, places));
      // Two empty alternatives would double the work for the rest of the pattern, so they count as ambiguous.
      if (shapes.filter(({ empty }) => empty).length > 1) throw new AmbiguousPattern();
      return {
        first: shapes.flatMap(({ first }) => first),
        last: shapes.flatMap(({ last }) => last),
        empty: shapes.some(({ empty }) => empty),
      };
    }
    case "repeat": {
      const body = shapeOf(tree.body, places);
      if (body.empty || tree.max === 0) throw new AmbiguousPattern();
      // Treating a counted repetition as unbounded can only find more ambiguity, so the proof stays valid.
      if (tree.max > 1) join(body.last, body.first);
      return tree.min === 0 ? { ...body, empty: true } : body;
    }
    default:
      throw new AmbiguousPattern();
  }
}

function follow(a: Shape, b: Shape): Shape {
  join(a.last, b.first);
  return {
    first: a.empty ? [...a.first, ...b.first] : a.first,
    last: b.empty ? [...a.last, ...b.last] : b.last,
    empty: a.empty && b.empty,
  };
}
