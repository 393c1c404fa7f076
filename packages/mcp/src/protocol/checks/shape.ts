import { isWebAddress } from "../../encoding/web-address.js";
import { isObject } from "../../jsonrpc/message.js";

/** A test of one member. `expected` completes the sentence "… is not …". */
export interface Test {
  expected: string;
  passes(value: unknown): boolean;
}

/** The required and optional members of a `T`. Other members stay unchecked. */
export interface Shape<T> {
  required: { readonly [K in keyof T]?: Test };
  optional?: { readonly [K in keyof T]?: Test };
}

export const aString: Test = { expected: "a string", passes: (value) => typeof value === "string" };
export const aBoolean: Test = { expected: "a boolean", passes: (value) => typeof value === "boolean" };
export const anObject: Test = { expected: "an object", passes: isObject };
export const anArray: Test = { expected: "an array", passes: Array.isArray };
/** A number from the wire is always finite, but one from a handler in the same process may be NaN or Infinity. */
export const aNumber: Test = { expected: "a finite number", passes: (value) => Number.isFinite(value) };

export const aWebAddress: Test = { expected: "an https URL", passes: isWebAddress };

/**
 * Accepts an icon that is safe to display: an image with an https URL, or an image in a `data:` URI. Other schemes
 * could run code, read a file, or disclose in plain text that the icon was displayed.
 *
 * Spec: Schema reference, "Icon".
 */
const anIcon: Test = {
  expected: "an icon with an https URL or a `data:` image",
  passes: (value) =>
    isObject(value) && (isWebAddress(value.src) || (typeof value.src === "string" && /^data:image\//i.test(value.src))),
};

/** An array whose items all pass. */
export function arrayOf(item: Test): Test {
  return {
    expected: `an array in which each item is ${item.expected}`,
    passes: (value) => Array.isArray(value) && value.every((each) => item.passes(each)),
  };
}

export const someIcons = arrayOf(anIcon);

/**
 * Drops the icons of a resource link if one of them is not safe to display. `item` is the block itself or the message
 * around it.
 */
export function withSafeIcons<T>(item: T, at: string, problems: string[], block: unknown): T {
  if (!isObject(block) || block.type !== "resource_link" || block.icons === undefined) return item;
  if (someIcons.passes(block.icons)) return item;
  problems.push(`${at}.icons is not ${someIcons.expected}; ignored`);
  const { icons: _icons, ...safe } = block;
  // Safe: the same item, without an optional member.
  return (item === block ? safe : { ...item, content: safe }) as T;
}

/** Accepts one of the given strings. */
export function oneOf(...values: readonly string[]): Test {
  return {
    expected: `one of ${values.join(", ")}`,
    passes: (value) => typeof value === "string" && values.includes(value),
  };
}

/**
 * Reads a value as a `T`. Returns undefined if a required member is invalid. Drops invalid optional members from a
 * copy. Adds each fault to `problems`, with `at` as the path. Returns a valid value without copying.
 */
export function readShape<T extends object>(
  value: unknown,
  shape: Shape<T>,
  at: string,
  problems: string[],
): T | undefined {
  if (!isObject(value)) {
    problems.push(`${at} is not an object`);
    return undefined;
  }
  if (!hasRequired(value, shape.required, at, problems)) return undefined;
  let sound = value;
  for (const key in shape.optional) {
    const test = shape.optional[key];
    if (test === undefined || value[key] === undefined || test.passes(value[key])) continue;
    problems.push(`${at}.${key} is not ${test.expected}; ignored`);
    if (sound === value) sound = { ...value };
    delete sound[key];
  }
  // Safe: the tests above cover every member that the shape names.
  return sound as T;
}

function hasRequired<T>(
  value: { [key: string]: unknown },
  required: Shape<T>["required"],
  at: string,
  problems: string[],
): boolean {
  for (const key in required) {
    const test = required[key];
    if (test === undefined || test.passes(value[key])) continue;
    problems.push(value[key] === undefined ? `${at} has no ${key}` : `${at}.${key} is not ${test.expected}`);
    return false;
  }
  return true;
}

/** Reads each item with `read` and drops unusable ones. */
export function readItems<T>(items: readonly unknown[], read: (item: unknown, index: number) => T | undefined): T[] {
  const sound: T[] = [];
  for (let index = 0; index < items.length; index++) {
    const item = read(items[index], index);
    if (item !== undefined) sound.push(item);
  }
  return sound;
}
