import type { MessageProblem } from "../contract/timeline.js";
import type { SchemaDefinitions } from "./schema-definitions.js";
import { jsonKindOf, type ObjectShape, type Shape } from "./shape.js";
import { choicesOf, type UnionChoice, type UnionChoices } from "./shape-union.js";
import { describeValue, listed, shapeInWords } from "./shape-words.js";
import { isBase64, isUri, isUriTemplate } from "./uri-or-base64.js";

/** Problems of one message that are reported; it is examined no further. */
export const MOST_PROBLEMS = 50;
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

/** What is being examined: the definitions that hold, and what was found so far. */
interface Examination {
  readonly definitions: SchemaDefinitions;
  readonly findings: Finding[];
}

/** Says where a value at a place breaks a definition; at most `MOST_PROBLEMS`. */
export function checkDefinition(
  definitions: SchemaDefinitions,
  name: string,
  value: unknown,
  place?: Place | undefined,
): MessageProblem[] {
  const findings: Finding[] = [];
  check({ definitions, findings }, name, definitions.shape(name), value, place);
  return findings.slice(0, MOST_PROBLEMS).map(({ place: at, definition, message }) => {
    return { path: pointerTo(at), definition, message };
  });
}

function check(to: Examination, definition: string, shape: Shape, value: unknown, place: Place | undefined): void {
  if (to.findings.length >= MOST_PROBLEMS) return;
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
      if (!fits(shape, value)) refuse(to, definition, shape, value, place);
  }
}

function refuse(to: Examination, definition: string, shape: Shape, value: unknown, place: Place | undefined): void {
  const message = `${describeValue(value)}; ${definition} demands ${shapeInWords(to.definitions, shape)}`;
  to.findings.push({ place, definition, message });
}

/** Whether a value that has no parts is what a shape demands. */
function fits(shape: Shape, value: unknown): boolean {
  if (shape.kind === "literal") return value === shape.value;
  if (shape.kind !== "simple") return shape.kind === "unknown";
  const { type, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = shape;
  if (typeof value === "number") {
    return (type === "integer" ? Number.isInteger(value) : type === "number") && value >= least && value <= most;
  }
  if (typeof value !== "string") return type === (value === null ? "null" : typeof value);
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
    if (to.findings.length >= MOST_PROBLEMS) return;
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
    if (to.findings.length >= MOST_PROBLEMS) return;
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
  const union = choicesOf(to.definitions, definition, shape);
  const kind = jsonKindOf(value);
  const fitting = union.choices.filter((choice) => choice.kinds.has(kind));
  if (fitting.length === 0) return refuse(to, definition, shape, value, place);
  if (kind === "array") return checkChoices(to, fitting, value, place);
  if (!isRecord(value)) {
    if (!fitting.some((choice) => fits(choice.shape, value))) refuse(to, definition, shape, value, place);
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
    check({ definitions: to.definitions, findings }, definition, shape, value, place);
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
