import type { MessageProblem } from "../contract/timeline.js";
import type { SchemaDefinitions } from "./schema-definitions.js";
import { jsonKindOf, type ObjectShape, type Shape, type SimpleType } from "./shape.js";
import { choicesOf, type UnionChoice, type UnionChoices } from "./shape-union.js";
import { describeValue, joinWithOr, shapeInWords } from "./shape-words.js";

/** Maximum number of problems reported for one message. The check stops at this number. */
export const MAX_PROBLEMS = 50;
/**
 * Maximum number of steps for one message. This number of steps takes about 50 ms. Beyond it, the rest of the message
 * is not checked. A client accepts messages of at most 100,000 values, and typical messages take two or three steps per
 * value.
 */
export const MAX_STEPS = 250_000;
/** Number of characters that one step checks, by format. Other formats need no further steps. */
const CHARACTERS_PER_STEP: Readonly<Partial<Record<SimpleType, number>>> = { uri: 80, base64: 100, uriTemplate: 1 };
/** Number of steps for selecting the choices of a union, in addition to checking them. */
const STEPS_PER_UNION = 2;
/** Maximum length of a member name in a path, in characters. Longer names are truncated. */
const MAX_KEY_LENGTH = 200;

/** The position of a value in its message. Paths are built only for problems. */
export interface Place {
  readonly above: Place | undefined;
  readonly key: string | number;
}

interface Finding {
  readonly place: Place | undefined;
  readonly definition: string;
  readonly message: string;
  /** The name of the missing member, if the finding is that a member is missing. */
  readonly missing?: string;
}

/** The remaining steps for a message. Less than 0 if the message was not checked completely. */
interface StepBudget {
  left: number;
}

/** The state of a check: the definitions, the findings so far, and the remaining steps. */
interface Examination {
  readonly definitions: SchemaDefinitions;
  readonly findings: Finding[];
  readonly budget: StepBudget;
}

/** Returns the problems of a value under a definition, at most `MAX_PROBLEMS`. Stops when the budget is used up. */
export function checkDefinition(
  definitions: SchemaDefinitions,
  name: string,
  value: unknown,
  place?: Place | undefined,
  budget: StepBudget = { left: MAX_STEPS },
): MessageProblem[] {
  const findings: Finding[] = [];
  check({ definitions, findings, budget }, name, definitions.shape(name), value, place);
  return findings.slice(0, MAX_PROBLEMS).map(({ place: at, definition, message }) => {
    return { path: pointerTo(at), definition, message };
  });
}

function check(to: Examination, definition: string, shape: Shape, value: unknown, place: Place | undefined): void {
  if (isDone(to) || !spend(to, 1)) return;
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
      if (!fits(to, shape, value)) reportMismatch(to, definition, shape, value, place);
  }
}

function reportMismatch(
  to: Examination,
  definition: string,
  shape: Shape,
  value: unknown,
  place: Place | undefined,
): void {
  const message = `${describeValue(value)}; ${definition} requires ${shapeInWords(to.definitions, shape)}`;
  to.findings.push({ place, definition, message });
}

function isDone({ findings, budget }: Examination): boolean {
  return findings.length >= MAX_PROBLEMS || budget.left < 0;
}

function spend({ budget }: Examination, steps: number): boolean {
  budget.left -= steps;
  return budget.left >= 0;
}

/**
 * True if a primitive value has the required shape. Also true if the remaining steps do not suffice to check the value.
 */
function fits(to: Examination, shape: Shape, value: unknown): boolean {
  if (shape.kind === "literal") return value === shape.value;
  if (shape.kind !== "simple") return shape.kind === "unknown";
  const { type, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = shape;
  if (typeof value === "number") {
    return (type === "integer" ? Number.isInteger(value) : type === "number") && value >= least && value <= most;
  }
  if (typeof value !== "string") return type === (value === null ? "null" : typeof value);
  const perStep = CHARACTERS_PER_STEP[type];
  if (perStep !== undefined && !spend(to, Math.floor(value.length / perStep))) return true;
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
  if (!Array.isArray(value)) return reportMismatch(to, definition, shape, value, place);
  if (shape.most !== undefined && value.length > shape.most) {
    const message = `has ${value.length} items; ${definition} allows at most ${shape.most}`;
    to.findings.push({ place, definition, message });
  }
  for (const [index, item] of value.entries()) {
    if (isDone(to)) return;
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
  if (!isRecord(value)) return reportMismatch(to, definition, shape, value, place);
  for (const [key, member] of shape.members) {
    const at = { above: place, key };
    const given = own(value, key);
    if (given !== undefined) check(to, definition, member.shape, given, at);
    else if (!member.optional) {
      const message = `is missing; ${definition} requires ${shapeInWords(to.definitions, member.shape)}`;
      to.findings.push({ place: at, definition, message, missing: key });
    }
  }
  if (shape.others === undefined) return;
  for (const key of Object.keys(value)) {
    if (isDone(to)) return;
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
  if (!spend(to, STEPS_PER_UNION)) return;
  const union = choicesOf(to.definitions, definition, shape);
  const kind = jsonKindOf(value);
  const fitting = union.choices.filter((choice) => choice.kinds.has(kind));
  if (fitting.length === 0) return reportMismatch(to, definition, shape, value, place);
  if (kind === "array") return checkChoices(to, fitting, value, place);
  if (!isRecord(value)) {
    if (!fitting.some((choice) => fits(to, choice.shape, value))) reportMismatch(to, definition, shape, value, place);
    return;
  }
  const chosen = chosenByTags(union.tags, fitting, value);
  if (typeof chosen !== "string") return checkChoices(to, chosen, value, place);
  const wanted = new Set([...(union.tags.get(chosen)?.values() ?? [])].flat().map((each) => JSON.stringify(each)));
  const found = own(value, chosen);
  const message = `${found === undefined ? "is missing" : describeValue(found)}; ${definition} requires ${joinWithOr([...wanted])}`;
  to.findings.push({ place: { above: place, key: chosen }, definition, message });
}

/**
 * Returns the choices that match all tags of an object. If there are none, returns the first tag that matches no
 * choice. If every tag matches some choice, returns all choices.
 */
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

/**
 * Checks a value against several choices. If the value matches none of them, reports the findings for the closest
 * choice, the one with the fewest findings.
 */
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

/**
 * Returns one finding that names all missing members, if the value lacks exactly one member of each of the closest
 * choices, and these members differ. Otherwise returns undefined.
 */
function missingOneOf(
  closest: readonly Finding[][],
  choices: readonly UnionChoice[],
  place: Place | undefined,
): Finding[] | undefined {
  const missing = new Set(closest.map(([only, more]) => (more === undefined ? only?.missing : undefined)));
  if (missing.size < 2 || missing.has(undefined)) return undefined;
  const demanding = joinWithOr([...new Set(choices.map((choice) => choice.definition))]);
  const message = `has no ${joinWithOr([...missing].map(String))}; ${demanding} requires it`;
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
    const shown = key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH)}…` : key;
    path = `/${shown.replaceAll("~", "~0").replaceAll("/", "~1")}${path}`;
  }
  return path;
}

/**
 * Maximum length of an expression in a URI template, in characters. A template with a longer expression counts as
 * invalid.
 */
const MAX_EXPRESSION_LENGTH = 10_000;

const OUTSIDE_URI = /[^\w\-.~!$&'()*+,;=:@/?#[\]%]/;
const HALF_ESCAPE = /%(?![\da-f]{2})/i;
const SCHEME = /^[a-z][a-z\d+.-]{0,255}:/i;
const ADDRESS = /^\[(?:[\da-f:.]{2,64}|v[\da-f]{1,8}\.[\w\-.~!$&'()*+,;=:]{1,255})\](?::\d*)?$/i;

// None of these expressions repeats a group over the whole text, because that overflows the stack on texts of some
// megabytes.

/** True if a text is a URI with a scheme. Spec: RFC 3986, section 3. */
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

/** True if a text is a URI template. Spec: RFC 6570, section 2. */
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
  if (text.length > MAX_EXPRESSION_LENGTH) return false;
  const variables = text.replace(/^[+#./;?&=,!@|]/, "").split(",");
  return variables.every((each) => /^(?:\w|%[\da-f]{2}|\b\.\b)+(?::[1-9]\d{0,3}|\*)?$/i.test(each));
}

/** True if a text is Base64 with padding. Spec: RFC 4648, section 4. */
export function isBase64(text: string): boolean {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return text.length % 4 === 0 && !/[^A-Za-z\d+/]/.test(text.slice(0, text.length - padding));
}
