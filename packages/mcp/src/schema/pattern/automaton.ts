import type { Run } from "../run.js";
import { spend } from "../run.js";
import type { CharSet } from "./char-set.js";
import { charSet } from "./char-set.js";
import type { Edge, PatternTree } from "./pattern-tree.js";
import { UnsupportedPattern } from "./pattern-tree.js";

/** One state: takes a character, splits, tests a place, or accepts. */
type State =
  | { readonly kind: "char"; readonly set: CharSet; readonly next: number }
  | { readonly kind: "split"; a: number; b: number }
  | { readonly kind: "edge"; readonly at: Edge; readonly next: number }
  | { readonly kind: "look"; readonly look: Look; readonly next: number }
  | { readonly kind: "accept" };

/** A lookahead or lookbehind: an automaton of its own, whose answer for every place is found beforehand. */
interface Look {
  readonly index: number;
  readonly negative: boolean;
}

interface Program {
  readonly states: State[];
  readonly start: number;
  /** Lookaheads are read from the end of the text backwards, so that one pass answers for every place. */
  readonly backward: boolean;
}

const MAX_STATES = 4_000;
const MAX_PARTS = 10_000;

/**
 * Compiles a pattern to a nondeterministic automaton (Thompson's construction) whose states are all followed at once.
 *
 * The work is at most states × characters, whatever the pattern; it is charged to the run.
 */
export function compileAutomaton(tree: PatternTree, flags: "u" | ""): (text: string, run: Run) => boolean {
  const looks: Program[] = [];
  const program = build(tree, false, looks);
  return (text, run) => {
    const points = flags === "u" ? Array.from(text, (char) => char.codePointAt(0) ?? 0) : unitsOf(text);
    spend(run, points.length >> 2);
    const answers: Uint8Array[] = [];
    // An inner look comes before the one around it, so its answers are there when they are needed.
    for (const look of looks) {
      const answer = new Uint8Array(points.length + 1);
      scan(look, points, answers, run, answer);
      answers.push(answer);
    }
    return scan(program, points, answers, run, undefined);
  };
}

function unitsOf(text: string): number[] {
  return Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
}

function build(tree: PatternTree, backward: boolean, looks: Program[]): Program {
  const states: State[] = [{ kind: "accept" }];

  let parts = 0;

  const add = (state: State): number => {
    if (states.length >= MAX_STATES) throw new UnsupportedPattern(`needs more than ${MAX_STATES} states`);
    return states.push(state) - 1;
  };

  /** Puts a tree before the state `next`; gives the state it begins at. */
  const before = (part: PatternTree, next: number): number => {
    // A repeated group may be empty, so states alone would not bound the work of building them.
    if (++parts > MAX_PARTS) throw new UnsupportedPattern(`unfolds to more than ${MAX_PARTS} parts`);
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
        const program = build(part.body, !part.behind, looks);
        const index = looks.push(program) - 1;
        return add({ kind: "look", look: { index, negative: part.negative }, next });
      }
    }
  };

  const repeat = ({ body, min, max }: PatternTree & { kind: "repeat" }, next: number): number => {
    let then = next;
    if (max === Number.POSITIVE_INFINITY) {
      const split: State = { kind: "split", a: 0, b: next };
      then = add(split);
      split.a = before(body, then);
    } else {
      for (let i = min; i < max; i++) then = add({ kind: "split", a: before(body, then), b: next });
    }
    for (let i = 0; i < min; i++) then = before(body, then);
    return then;
  };

  const start = before(tree, 0);
  return { states, start, backward };
}

/**
 * Follows all states over the text, beginning anew at every place.
 *
 * Without `answer`, says whether the pattern occurs; with it, notes for every place whether a match ends there.
 */
function scan(
  program: Program,
  points: readonly number[],
  answers: readonly Uint8Array[],
  run: Run,
  answer: Uint8Array | undefined,
): boolean {
  const { states, start, backward } = program;
  const visited = new Uint32Array(states.length);
  let pending: number[] = [];
  let found = false;
  for (let step = 0; step <= points.length; step++) {
    const place = backward ? points.length - step : step;
    const point = points[backward ? place - 1 : place];
    pending.push(start);
    const next: number[] = [];
    let visits = 0;
    let accepted = false;
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (visited[index] === step + 1) continue;
      visited[index] = step + 1;
      visits++;
      const state = states[index];
      if (state === undefined) continue;
      if (state.kind === "char") {
        if (point !== undefined && state.set.has(point)) next.push(state.next);
      } else if (state.kind === "split") pending.push(state.a, state.b);
      else if (state.kind === "edge") {
        if (isAt(state.at, points, place)) pending.push(state.next);
      } else if (state.kind === "look") {
        if ((answers[state.look.index]?.[place] === 1) !== state.look.negative) pending.push(state.next);
      } else accepted = true;
    }
    // A visit costs about a quarter of what applying a subschema does.
    spend(run, 1 + (visits >> 2));
    if (accepted) {
      if (answer === undefined) return true;
      answer[place] = 1;
      found = true;
    }
    pending = next;
  }
  return found;
}

function isAt(edge: Edge, points: readonly number[], place: number): boolean {
  if (edge === "start") return place === 0;
  if (edge === "end") return place === points.length;
  return (isWord(points[place - 1]) !== isWord(points[place])) === (edge === "word");
}

const WORD = charSet("\\w", "");

function isWord(point: number | undefined): boolean {
  return point !== undefined && WORD.has(point);
}
