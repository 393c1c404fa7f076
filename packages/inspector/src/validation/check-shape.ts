import type { MessageProblem } from "../contract/timeline.js";
import type { SchemaDefinitions } from "./schema-definitions.js";
import { jsonKindOf, type ObjectShape, type Shape, type SimpleType } from "./shape.js";
import { choicesOf, type UnionChoice, type UnionChoices } from "./shape-union.js";
import { describeValue, listed, shapeInWords } from "./shape-words.js";

/** Problems of one message that are reported; it is examined no further. */
export const MOST_PROBLEMS = 50;
/**
 * Steps that the examination of one message may take, which is some 50 ms; what is left then is not examined. A client accepts no
 * message of more than 100,000 values, and those of servers that mean well take two or three steps for each.
 */
export const MOST_STEPS = 250_000;
/** Characters of a text that are examined in one step, by its format. */
const CHARACTERS_PER_STEP: Readonly<Partial<Record<SimpleType, number>>> = { uri: 80, base64: 100, uriTemplate: 1 };
/** Steps that finding the choice of a union takes, besides examining it. */
const STEPS_PER_UNION = 2;
/** Characters of a member's name that a path shows. */
const LONGEST_KEY = 200;

/** Where a value is in its message; paths are only written for what is wrong. */
export interface Place {
  readonly above: Place | undefined;
  readonly key: string | number;
}

interface Finding {
  readonly place: Place | undefined;
  readonly definition: string;
  readonly message: string;
  /** Set if nothing is wrong but that a member is absent. */
  readonly missing?: string;
}

/** The steps that are left for a message; less than 0 when it was not examined to its end. */
interface StepBudget {
  left: number;
}

/** What is being examined: the definitions that hold, what was found so far, and how much more may be done. */
interface Examination {
  readonly definitions: SchemaDefinitions;
  readonly findings: Finding[];
  readonly budget: StepBudget;
}

/** Says where a value at a place breaks a definition; at most `MOST_PROBLEMS`, and what the budget suffices for. */
export function checkDefinition(
  definitions: SchemaDefinitions,
  name: string,
  value: unknown,
  place?: Place | undefined,
  budget: StepBudget = { left: MOST_STEPS },
): MessageProblem[] {
  const findings: Finding[] = [];
  check({ definitions, findings, budget }, name, definitions.shape(name), value, place);
  return findings.slice(0, MOST_PROBLEMS).map(({ place: at, definition, message }) => {
    return { path: pointerTo(at), definition, message };
  });
}

function check(to: Examination, definition: string, shape: Shape, value: unknown, place: Place | undefined): void {
  if (isOver(to) || !affords(to, 1)) return;
  switch (shape.kind) {
    case "unknown":
      return;
    case "named":
      return check(to, shape.name, to.definitions.shape(shape.name), value, place);
    case "both":
      for (const part of shape.parts) check(to, definition, part, value, place);
      return;
    case "union":
      return checkUnion(to, definition, shape, value, place);
    case "object":
      return checkObject(to, definition, shape, value, place);
    case "array":
      return checkArray(to, definition, shape, value, place);
    default:
      if (!fits(to, shape, value)) refuse(to, definition, shape, value, place);
  }
}

function refuse(to: Examination, definition: string, shape: Shape, value: unknown, place: Place | undefined): void {
  const message = `${describeValue(value)}; ${definition} demands ${shapeInWords(to.definitions, shape)}`;
  to.findings.push({ place, definition, message });
}

function isOver({ findings, budget }: Examination): boolean {
  return findings.length >= MOST_PROBLEMS || budget.left < 0;
}

function affords({ budget }: Examination, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}

/** Whether a value that has no parts is what a shape demands, as far as it is examined. */
function fits(to: Examination, shape: Shape, value: unknown): boolean {
  if (shape.kind === "literal") return value === shape.value;
  if (shape.kind !== "simple") return shape.kind === "unknown";
  const { type, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = shape;
  if (typeof value === "number") {
    return (type === "integer" ? Number.isInteger(value) : type === "number") && value >= least && value <= most;
  }
  if (typeof value !== "string") return type === (value === null ? "null" : typeof value);
  const perStep = CHARACTERS_PER_STEP[type];
  if (perStep !== undefined && !affords(to, Math.floor(value.length / perStep))) return true;
  if (type === "uri") return isUri(value);
  if (type === "uriTemplate") return isUriTemplate(value);
  return type === "base64" ? isBase64(value) : type === "string";
}

function checkArray(
  to: Examination,
  definition: string,
  shape: Extract<Shape, { kind: "array" }>,
  value: unknown,
  place: Place | undefined,
): void {
  if (!Array.isArray(value)) return refuse(to, definition, shape, value, place);
  if (shape.most !== undefined && value.length > shape.most) {
    const message = `has ${value.length} items; ${definition} demands at most ${shape.most}`;
    to.findings.push({ place, definition, message });
  }
  for (const [index, item] of value.entries()) {
    if (isOver(to)) return;
    check(to, definition, shape.items, item, { above: place, key: index });
  }
}

function checkObject(
  to: Examination,
  definition: string,
  shape: ObjectShape,
  value: unknown,
  place: Place | undefined,
): void {
  if (!isRecord(value)) return refuse(to, definition, shape, value, place);
  for (const [key, member] of shape.members) {
    const at = { above: place, key };
    const given = own(value, key);
    if (given !== undefined) check(to, definition, member.shape, given, at);
    else if (!member.optional) {
      const message = `is missing; ${definition} demands ${shapeInWords(to.definitions, member.shape)}`;
      to.findings.push({ place: at, definition, message, missing: key });
    }
  }
  if (shape.others === undefined) return;
  for (const key of Object.keys(value)) {
    if (isOver(to)) return;
    if (!shape.members.has(key)) check(to, definition, shape.others, own(value, key), { above: place, key });
  }
}

function checkUnion(
  to: Examination,
  definition: string,
  shape: Extract<Shape, { kind: "union" }>,
  value: unknown,
  place: Place | undefined,
): void {
  if (!affords(to, STEPS_PER_UNION)) return;
  const union = choicesOf(to.definitions, definition, shape);
  const kind = jsonKindOf(value);
  const fitting = union.choices.filter((choice) => choice.kinds.has(kind));
  if (fitting.length === 0) return refuse(to, definition, shape, value, place);
  if (kind === "array") return checkChoices(to, fitting, value, place);
  if (!isRecord(value)) {
    if (!fitting.some((choice) => fits(to, choice.shape, value))) refuse(to, definition, shape, value, place);
    return;
  }
  const chosen = chosenByTags(union.tags, fitting, value);
  if (typeof chosen !== "string") return checkChoices(to, chosen, value, place);
  const wanted = new Set([...(union.tags.get(chosen)?.values() ?? [])].flat().map((each) => JSON.stringify(each)));
  const found = own(value, chosen);
  const message = `${found === undefined ? "is missing" : describeValue(found)}; ${definition} demands ${listed([...wanted])}`;
  to.findings.push({ place: { above: place, key: chosen }, definition, message });
}

/** The choices that the tags of an object leave, or the tag by which it is none of them. */
function chosenByTags(
  tags: UnionChoices["tags"],
  fitting: readonly UnionChoice[],
  value: Readonly<Record<string, unknown>>,
): readonly UnionChoice[] | string {
  const matches = (choice: UnionChoice, key: string) => {
    const found = own(value, key);
    if (found === undefined) return choice.members.get(key)?.optional ?? true;
    return (
      tags
        .get(key)
        ?.get(choice)
        ?.some((literal) => literal === found) ?? true
    );
  };
  const keys = [...tags.keys()];
  const chosen = fitting.filter((choice) => keys.every((key) => matches(choice, key)));
  if (chosen.length > 0) return chosen;
  return keys.find((key) => !fitting.some((choice) => matches(choice, key))) ?? fitting;
}

/** Reports what is wrong under the choice that the value comes closest to. */
function checkChoices(
  to: Examination,
  choices: readonly UnionChoice[],
  value: unknown,
  place: Place | undefined,
): void {
  let closest: Finding[][] = [];
  for (const { definition, shape } of choices) {
    const findings: Finding[] = [];
    check({ ...to, findings }, definition, shape, value, place);
    if (findings.length === 0) return;
    const least = closest[0]?.length ?? Number.POSITIVE_INFINITY;
    if (findings.length < least) closest = [findings];
    else if (findings.length === least) closest.push(findings);
  }
  to.findings.push(...(missingOneOf(closest, choices, place) ?? closest[0] ?? []));
}

/** One sentence for choices of which each lacks one member of its own. */
function missingOneOf(
  closest: readonly Finding[][],
  choices: readonly UnionChoice[],
  place: Place | undefined,
): Finding[] | undefined {
  const missing = new Set(closest.map(([only, more]) => (more === undefined ? only?.missing : undefined)));
  if (missing.size < 2 || missing.has(undefined)) return undefined;
  const demanding = listed([...new Set(choices.map((choice) => choice.definition))]);
  const message = `has no ${listed([...missing].map(String))}; ${demanding} demands it`;
  return [{ place, definition: choices[0]?.definition ?? "", message }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return jsonKindOf(value) === "object";
}

function own(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function pointerTo(place: Place | undefined): string {
  let path = "";
  for (let at = place; at !== undefined; at = at.above) {
    const key = String(at.key);
    const shown = key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY)}…` : key;
    path = `/${shown.replaceAll("~", "~0").replaceAll("/", "~1")}${path}`;
  }
  return path;
}

/** An expression of a URI template that is longer is none. */
const LONGEST_EXPRESSION = 10_000;

const OUTSIDE_URI = /[^\w\-.~!$&'()*+,;=:@/?#[\]%]/;
const HALF_ESCAPE = /%(?![\da-f]{2})/i;
const SCHEME = /^[a-z][a-z\d+.-]{0,255}:/i;
const ADDRESS = /^\[(?:[\da-f:.]{2,64}|v[\da-f]{1,8}\.[\w\-.~!$&'()*+,;=:]{1,255})\](?::\d*)?$/i;

// None of these tests repeats a group over the whole text: on a text of some megabytes such an expression runs out of stack.

/** Whether a text is a URI with a scheme. Spec: RFC 3986, section 3. */
export function isUri(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined || OUTSIDE_URI.test(text) || HALF_ESCAPE.test(text)) return false;
  const rest = text.slice(scheme.length);
  if (rest.indexOf("#") !== rest.lastIndexOf("#")) return false;
  if (!rest.startsWith("//")) return !/[[\]]/.test(rest);
  const length = rest.slice(2).search(/[/?#]/);
  const end = length < 0 ? rest.length : length + 2;
  return isAuthority(rest.slice(2, end)) && !/[[\]]/.test(rest.slice(end));
}

function isAuthority(text: string): boolean {
  const at = text.indexOf("@");
  if (at !== text.lastIndexOf("@") || text.slice(0, Math.max(at, 0)).includes("[")) return false;
  const host = text.slice(at + 1);
  if (/[[\]]/.test(host)) return ADDRESS.test(host);
  const colon = host.indexOf(":");
  return colon < 0 || !/\D/.test(host.slice(colon + 1));
}

/** Whether a text is a URI template. Spec: RFC 6570, section 2. */
export function isUriTemplate(text: string): boolean {
  for (let at = 0; ; ) {
    const open = text.indexOf("{", at);
    const literal = text.slice(at, open < 0 ? undefined : open);
    if (/[\0- "'<>\\^`{|}]/.test(literal) || HALF_ESCAPE.test(literal)) return false;
    if (open < 0) return true;
    const close = text.indexOf("}", open);
    if (close < 0 || !isExpression(text.slice(open + 1, close))) return false;
    at = close + 1;
  }
}

function isExpression(text: string): boolean {
  if (text.length > LONGEST_EXPRESSION) return false;
  const variables = text.replace(/^[+#./;?&=,!@|]/, "").split(",");
  return variables.every((each) => /^(?:\w|%[\da-f]{2}|\b\.\b)+(?::[1-9]\d{0,3}|\*)?$/i.test(each));
}

/** Whether a text is Base64 with its padding. Spec: RFC 4648, section 4. */
export function isBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return text.length % 4 === 0 && !/[^A-Za-z\d+/]/.test(text.slice(0, text.length - padding));
}
