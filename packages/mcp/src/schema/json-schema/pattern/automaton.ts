import { type CharSet, charSet, type Edge, type PatternTree, UnsupportedPattern } from "./pattern-tree.js";

/** One state of the automaton: consumes a character, splits, tests a position, or accepts. */
type State =
  | { readonly kind: "char"; readonly set: CharSet; readonly next: number }
  | { readonly kind: "split"; a: number; readonly b: number }
  | { readonly kind: "edge"; readonly at: Edge; readonly next: number }
  | { readonly kind: "look"; readonly index: number; readonly negative: boolean; readonly next: number }
  | { readonly kind: "accept" };

interface Program {
  readonly states: readonly State[];
  readonly start: number;
  /**
   * True for lookaheads. A lookahead is scanned from the end of the text, so that one pass finds its result at every
   * position.
   */
  readonly backward: boolean;
}

// Maximum number of states. Larger patterns are refused, because matching costs up to states × characters. 2,000 states
// allow counted repetitions of several hundred.
const MAX_STATES = 2_000;
const MAX_PARTS = 10_000;

/** Charges steps of work to the budget of a run. Throws if the budget is used up. */
type Spend<R> = (run: R, steps: number) => void;

/**
 * Compiles a pattern to a nondeterministic automaton (Thompson's construction) that follows all states at once.
 *
 * The work is at most states × characters for any pattern, and is charged with `spend`.
 */
export function compileAutomaton<R>(
  tree: PatternTree,
  flags: "u" | "",
  spend: Spend<R>,
): (text: string, run: R) => boolean {
  const looks: Program[] = [];
  const program = build(tree, false, looks);
  return (text, run) => {
    spend(run, text.length >> 1);
    const points = pointsOf(text, flags);
    const answers: Uint8Array[] = [];
    // The list contains an inner lookaround before the lookaround around it, so the inner results are ready when the
    // outer lookaround needs them.
    for (const look of looks) {
      const answer = new Uint8Array(points.length + 1);
      scan(look, points, answers, spend, run, answer);
      answers.push(answer);
    }
    return scan(program, points, answers, spend, run, undefined);
  };
}

function pointsOf(text: string, flags: "u" | ""): Uint32Array {
  const points = new Uint32Array(text.length);
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const point = flags === "u" ? (text.codePointAt(i) ?? 0) : text.charCodeAt(i);
    if (point > 0xffff) i++;
    points[count++] = point;
  }
  return points.subarray(0, count);
}

function build(tree: PatternTree, backward: boolean, looks: Program[]): Program {
  const states: State[] = [{ kind: "accept" }];
  let parts = 0;

  const add = (state: State): number => {
    if (states.length >= MAX_STATES) throw new UnsupportedPattern(`needs more than ${MAX_STATES} states`);
    return states.push(state) - 1;
  };

  /** Adds the states of a tree that continues at `next`. Returns its first state. */
  const before = (part: PatternTree, next: number): number => {
    // A repeated empty group adds no states, so MAX_STATES alone would not bound this recursion.
    if (++parts > MAX_PARTS) throw new UnsupportedPattern(`expands to more than ${MAX_PARTS} parts`);
    switch (part.kind) {
      case "char":
        return add({ kind: "char", set: part.set, next });
      case "edge":
        return add({ kind: "edge", at: part.at, next });
      case "sequence": {
        const inOrder = backward ? part.parts : part.parts.toReversed();
        return inOrder.reduce((then, inner) => before(inner, then), next);
      }
      case "either":
        return part.parts.map((inner) => before(inner, next)).reduceRight((b, a) => add({ kind: "split", a, b }));
      case "repeat":
        return repeat(part, next);
      case "look": {
        const index = looks.push(build(part.body, !part.behind, looks)) - 1;
        return add({ kind: "look", index, negative: part.negative, next });
      }
    }
  };

  const repeat = ({ body, min, max }: PatternTree & { kind: "repeat" }, next: number): number => {
    let then = next;
    if (max === Number.POSITIVE_INFINITY) {
      const split = { kind: "split" as const, a: next, b: next };
      then = add(split);
      split.a = before(body, then);
    } else {
      for (let i = min; i < max; i++) then = add({ kind: "split", a: before(body, then), b: next });
    }
    for (let i = 0; i < min; i++) then = before(body, then);
    return then;
  };

  return { start: before(tree, 0), states, backward };
}

/**
 * Follows all states over the text, starting a new match at every position.
 *
 * Without `answer`, returns true if the pattern occurs. With `answer`, marks every position where a match ends.
 */
function scan<R>(
  { states, start, backward }: Program,
  points: Uint32Array,
  answers: readonly Uint8Array[],
  spend: Spend<R>,
  run: R,
  answer: Uint8Array | undefined,
): boolean {
  const visited = new Uint32Array(states.length);
  // Each state is visited once per position and adds at most two other states.
  let pending = new Uint16Array(states.length * 2 + 2);
  let next = new Uint16Array(states.length * 2 + 2);
  let pendingCount = 0;
  for (let step = 0; step <= points.length; step++) {
    const place = backward ? points.length - step : step;
    const point = points[backward ? place - 1 : place];
    pending[pendingCount++] = start;
    let nextCount = 0;
    let visits = 1;
    let accepted = false;
    while (pendingCount > 0) {
      const index = pending[--pendingCount] ?? 0;
      if (visited[index] === step + 1) continue;
      visited[index] = step + 1;
      visits++;
      const state = states[index];
      if (state === undefined) continue;
      if (state.kind === "char") {
        if (point !== undefined && state.set.has(point)) next[nextCount++] = state.next;
      } else if (state.kind === "split") {
        pending[pendingCount++] = state.b;
        pending[pendingCount++] = state.a;
      } else if (state.kind === "accept") accepted = true;
      else if (holds(state, points, place, answers)) pending[pendingCount++] = state.next;
    }
    spend(run, visits);
    if (accepted && answer === undefined) return true;
    if (accepted && answer !== undefined) answer[place] = 1;
    [pending, next] = [next, pending];
    pendingCount = nextCount;
  }
  return false;
}

function holds(
  state: State & { kind: "edge" | "look" },
  points: Uint32Array,
  place: number,
  answers: readonly Uint8Array[],
): boolean {
  if (state.kind === "look") return (answers[state.index]?.[place] === 1) !== state.negative;
  if (state.at === "start") return place === 0;
  if (state.at === "end") return place === points.length;
  return (isWord(points[place - 1]) !== isWord(points[place])) === (state.at === "word");
}

const WORD = charSet("\\w", "");

function isWord(point: number | undefined): boolean {
  return point !== undefined && WORD.has(point);
}
