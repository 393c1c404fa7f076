import { canonicalText } from "./canonical.js";
import { isMultipleOf } from "./decimal.js";
import type { Site } from "./site.js";
import { invalid, readCount, readNumber, readString } from "./site.js";
import { isTypeName, TYPE_BITS } from "./type-mask.js";
import type { Check } from "./validation.js";
import { fail, spend } from "./validation.js";

/** `type`, `enum` and `const`. */
export function addValueKeywords(site: Site): void {
  const { type } = site.schema;
  if (type !== undefined) {
    const names: readonly unknown[] = Array.isArray(type) ? type : [type];
    site.mask = 0;
    for (const name of names) {
      if (!isTypeName(name)) throw invalid(site, "type", "the name of a JSON type, or a list of such names");
      site.mask |= TYPE_BITS[name];
    }
  }
  if (site.schema.enum !== undefined) {
    if (!Array.isArray(site.schema.enum)) throw invalid(site, "enum", "a list");
    site.rest.push(oneOfValues("enum", site.schema.enum));
  }
  if (site.schema.const !== undefined) site.rest.push(oneOfValues("const", [site.schema.const]));
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
    const found =
      typeof value === "object" && value !== null
        ? texts.size > 0 && texts.has(canonicalText(value, run))
        : simple.has(value);
    return found || fail(run, keyword, message);
  };
}

/** The first values, short enough to be read. */
function list(values: readonly unknown[]): string {
  const shown = values.slice(0, 10).map((value) => {
    const text = JSON.stringify(value);
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  });
  return shown.join(", ") + (values.length > shown.length ? `, … (${values.length} values)` : "");
}

/** The keywords of numbers and strings. */
export function addScalarKeywords(site: Site): void {
  addBounds(site);
  const divisor = readNumber(site, "multipleOf");
  if (divisor !== undefined) {
    if (divisor <= 0) throw invalid(site, "multipleOf", "greater than 0");
    const message = `must be a multiple of ${divisor}`;
    site.numbers.push((value, run) => isMultipleOf(value, divisor) || fail(run, "multipleOf", message));
  }
  addLengths(site);
  const pattern = readString(site, "pattern");
  if (pattern !== undefined) {
    const matches = site.compiler.pattern(pattern, `${site.path}/pattern`);
    const message = `must match the pattern ${pattern}`;
    site.strings.push((value, run) => matches(value, run) || fail(run, "pattern", message));
  }
  const format = readString(site, "format");
  const formats = site.compiler.formats;
  if (format !== undefined && formats !== undefined && Object.hasOwn(formats, format)) {
    const test = formats[format];
    const message = `must be a valid ${format}`;
    site.strings.push((value, run) => {
      spend(run, value.length >> 2);
      return test === undefined || test(value) || fail(run, "format", message);
    });
  }
}

function addBounds(site: Site): void {
  const minimum = readNumber(site, "minimum");
  if (minimum !== undefined) {
    const message = `must be at least ${minimum}`;
    site.numbers.push((value, run) => value >= minimum || fail(run, "minimum", message));
  }
  const maximum = readNumber(site, "maximum");
  if (maximum !== undefined) {
    const message = `must be at most ${maximum}`;
    site.numbers.push((value, run) => value <= maximum || fail(run, "maximum", message));
  }
  const above = readNumber(site, "exclusiveMinimum");
  if (above !== undefined) {
    const message = `must be greater than ${above}`;
    site.numbers.push((value, run) => value > above || fail(run, "exclusiveMinimum", message));
  }
  const below = readNumber(site, "exclusiveMaximum");
  if (below !== undefined) {
    const message = `must be less than ${below}`;
    site.numbers.push((value, run) => value < below || fail(run, "exclusiveMaximum", message));
  }
}

function addLengths(site: Site): void {
  const minLength = readCount(site, "minLength");
  if (minLength !== undefined) {
    const message = `must have at least ${minLength} ${minLength === 1 ? "character" : "characters"}`;
    site.strings.push((value, run) => {
      if (value.length >= minLength * 2) return true;
      if (value.length >= minLength && codePoints(value) >= minLength) return true;
      return fail(run, "minLength", message);
    });
  }
  const maxLength = readCount(site, "maxLength");
  if (maxLength !== undefined) {
    const message = `must have at most ${maxLength} ${maxLength === 1 ? "character" : "characters"}`;
    site.strings.push((value, run) => {
      if (value.length <= maxLength) return true;
      if (value.length <= maxLength * 2) {
        spend(run, value.length >> 3);
        if (codePoints(value) <= maxLength) return true;
      }
      return fail(run, "maxLength", message);
    });
  }
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
