import {
  type Expression,
  type Operator,
  parseUriTemplate,
  type TemplatePart,
  type TemplateVariable,
  UriTemplateError,
} from "./parse.js";

type Scalar = string | number | boolean;
type Nullish = null | undefined;

/** The value of a variable. `null`, `undefined`, an empty list and an empty object count as undefined. */
export type TemplateValue =
  | Scalar
  | Nullish
  | readonly (Scalar | Nullish)[]
  | { readonly [key: string]: Scalar | Nullish };

/** The rules of one operator. */
interface Style {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  /** The text after a name whose value is empty. */
  readonly ifEmpty: string;
  readonly reserved: boolean;
}

/** RFC 6570, appendix A. */
const STYLES: Readonly<Record<Operator, Style>> = {
  "": { first: "", separator: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, ifEmpty: "=", reserved: false },
};

/**
 * Expands a template (RFC 6570, levels 1 to 4).
 *
 * Reads only own properties of `variables`. Throws `UriTemplateError` for an invalid template, and for a prefix
 * (`{list:3}`) on a list or an object.
 *
 * @example
 * ```ts
 * import { expandUriTemplate } from "@parley/mcp/protocol";
 *
 * expandUriTemplate("notes://{folder}/{id}", { folder: "work", id: "7" }); // "notes://work/7"
 * ```
 */
export function expandUriTemplate(
  template: string | readonly TemplatePart[],
  variables: Readonly<Record<string, TemplateValue>>,
): string {
  const parts = typeof template === "string" ? parseUriTemplate(template) : template;
  return parts
    .map((part) => (part.kind === "literal" ? encodeReserved(part.text) : expandExpression(part, variables)))
    .join("");
}

function expandExpression(expression: Expression, variables: Readonly<Record<string, TemplateValue>>): string {
  const style = STYLES[expression.operator];
  const pieces = expression.variables.flatMap((variable) => {
    const value = Object.hasOwn(variables, variable.name) ? variables[variable.name] : undefined;
    return expandVariable(variable, value, style);
  });
  return pieces.length === 0 ? "" : style.first + pieces.join(style.separator);
}

function expandVariable(variable: TemplateVariable, value: TemplateValue, style: Style): string[] {
  if (value === null || value === undefined) return [];
  const { name, explode, prefix } = variable;
  if (!isComposite(value)) {
    const text = String(value);
    // `Array.from` counts characters, not UTF-16 units, because a prefix must not split a surrogate pair.
    return [
      labelled(name, encode(prefix === undefined ? text : Array.from(text).slice(0, prefix).join(""), style), style),
    ];
  }
  if (prefix !== undefined) {
    throw new UriTemplateError(`{${name}:${prefix}} cannot expand a list or an object`, 0, "Pass a string.");
  }
  const isList = Array.isArray(value);
  const members = Object.entries(value)
    .filter((entry): entry is [string, Scalar] => entry[1] !== null && entry[1] !== undefined)
    .map(([key, member]) => [encode(key, style), encode(String(member), style)] as const);
  if (members.length === 0) return [];
  if (!explode)
    return [labelled(name, members.map(([key, text]) => (isList ? text : `${key},${text}`)).join(","), style)];
  return members.map(([key, text]) => {
    if (isList) return labelled(name, text, style);
    return style.named ? labelled(key, text, style) : `${key}=${text}`;
  });
}

function labelled(name: string, text: string, style: Style): string {
  if (!style.named) return text;
  return name + (text === "" ? style.ifEmpty : `=${text}`);
}

function isComposite(value: Exclude<TemplateValue, Nullish>): value is Exclude<TemplateValue, Scalar | Nullish> {
  return typeof value === "object";
}

function encode(text: string, style: Style): string {
  return style.reserved ? encodeReserved(text) : encodeUnreserved(text);
}

/**
 * Encodes all characters except unreserved ones. Also encodes the five reserved characters that `encodeURIComponent`
 * leaves unchanged.
 */
function encodeUnreserved(text: string): string {
  return encodeURIComponent(wellFormed(text)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes all characters except reserved and unreserved ones and percent-encoded triplets. */
function encodeReserved(text: string): string {
  return wellFormed(text).replace(/%[0-9A-Fa-f]{2}|%|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+/g, (run) =>
    run.length > 1 && run.startsWith("%") ? run : encodeURIComponent(run),
  );
}

/** Replaces a lone surrogate with U+FFFD, as `TextEncoder` does, because a lone surrogate has no UTF-8 encoding. */
function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udfff]/gu, "\ufffd");
}
