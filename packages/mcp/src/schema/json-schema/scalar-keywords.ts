import { canonicalText } from "./canonical-text.js";
import type { SchemaBuilder } from "./schema-builder.js";
import { addLimit, invalid, readNumber, readString } from "./schema-builder.js";
import { isTypeName, TYPE_BITS } from "./type-mask.js";
import type { Check } from "./validation.js";
import { fail, spend } from "./validation.js";

/** Adds `type`, `enum` and `const`. */
export function addValueKeywords(builder: SchemaBuilder): void {
  const { type } = builder.schema;
  if (type !== undefined) {
    const names: readonly unknown[] = Array.isArray(type) ? type : [type];
    builder.mask = 0;
    for (const name of names) {
      if (!isTypeName(name)) throw invalid(builder, "type", "the name of a JSON type, or a list of such names");
      builder.mask |= TYPE_BITS[name];
    }
  }
  if (builder.schema.enum !== undefined) {
    if (!Array.isArray(builder.schema.enum)) throw invalid(builder, "enum", "a list");
    builder.rest.push(oneOfValues("enum", builder.schema.enum));
  }
  if (builder.schema.const !== undefined) builder.rest.push(oneOfValues("const", [builder.schema.const]));
}

function oneOfValues(keyword: string, values: readonly unknown[]): Check {
  const simple = new Set<unknown>();
  const texts = new Set<string>();
  for (const value of values) {
    if (typeof value === "object" && value !== null) texts.add(canonicalText(value));
    else simple.add(value);
  }
  const message = values.length === 1 ? `must be ${list(values)}` : `must be one of ${list(values)}`;
  return (value, run) => {
    const matches =
      typeof value === "object" && value !== null
        ? texts.size > 0 && texts.has(canonicalText(value, run))
        : simple.has(value);
    return matches || fail(run, keyword, message);
  };
}

/** Lists the first few values, so that the message stays readable. */
function list(values: readonly unknown[]): string {
  const shown = values.slice(0, 10).map((value) => {
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  });
  return shown.join(", ") + (values.length > shown.length ? `, … (${values.length} values)` : "");
}

/** Adds the number and string keywords. */
export function addScalarKeywords(builder: SchemaBuilder): void {
  addBounds(builder);
  const divisor = readNumber(builder, "multipleOf");
  if (divisor !== undefined) {
    if (divisor <= 0) throw invalid(builder, "multipleOf", "greater than 0");
    const message = `must be a multiple of ${divisor}`;
    builder.numbers.push((value, run) => isMultipleOf(value, divisor) || fail(run, "multipleOf", message));
  }
  addLengths(builder);
  const pattern = readString(builder, "pattern");
  if (pattern !== undefined) {
    const matches = builder.compiler.pattern(pattern, `${builder.path}/pattern`);
    const message = `must match the pattern ${pattern}`;
    builder.strings.push((value, run) => matches(value, run) || fail(run, "pattern", message));
  }
  const format = readString(builder, "format");
  const formats = builder.compiler.formats;
  if (format !== undefined && formats !== undefined && Object.hasOwn(formats, format)) {
    const test = formats[format];
    const message = `must be a valid ${format}`;
    builder.strings.push((value, run) => {
      spend(run, value.length >> 2);
      return test === undefined || test(value) || fail(run, "format", message);
    });
  }
}

const BOUNDS: Readonly<Record<string, readonly [string, (value: number, bound: number) => boolean]>> = {
  minimum: ["at least", (value, bound) => value >= bound],
  maximum: ["at most", (value, bound) => value <= bound],
  exclusiveMinimum: ["greater than", (value, bound) => value > bound],
  exclusiveMaximum: ["less than", (value, bound) => value < bound],
};

function addBounds(builder: SchemaBuilder): void {
  for (const [keyword, [words, fits]] of Object.entries(BOUNDS)) {
    const bound = readNumber(builder, keyword);
    if (bound === undefined) continue;
    const message = `must be ${words} ${bound}`;
    builder.numbers.push((value, run) => fits(value, bound) || fail(run, keyword, message));
  }
}

function addLengths(builder: SchemaBuilder): void {
  const units = ["character", "characters"] as const;
  addLimit(builder, builder.strings, "minLength", units, (value, least) => {
    return value.length >= least * 2 || (value.length >= least && codePoints(value) >= least);
  });
  addLimit(builder, builder.strings, "maxLength", units, (value, most, run) => {
    if (value.length <= most) return true;
    if (value.length > most * 2) return false;
    spend(run, value.length >> 3);
    return codePoints(value) <= most;
  });
}

function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i + 1 < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      i++;
    }
  }
  return count;
}

/**
 * True if `value` is a multiple of `divisor`. Compares the decimal digits as written, because binary division is
 * inexact: 19.99 / 0.01 is 1998.9999999999998.
 */
function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isInteger(value) && Number.isInteger(divisor)) return value % divisor === 0;
  if (!Number.isFinite(value)) return false;
  const a = decompose(value);
  const b = decompose(divisor);
  // Both exponents are within ±400, so the powers stay small.
  const exponent = Math.min(a.exponent, b.exponent);
  const left = a.digits * 10n ** BigInt(a.exponent - exponent);
  const right = b.digits * 10n ** BigInt(b.exponent - exponent);
  return left % right === 0n;
}

function decompose(value: number): { digits: bigint; exponent: number } {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}
