import { McpError } from "../../protocol/error.js";

/** The accepted numbers of an option. */
interface NumberRange {
  readonly min: number;
  readonly max?: number;
  /** True if fractions are allowed. Default: false. */
  readonly fractions?: boolean;
}

/**
 * Throws `invalid_definition` if an option is not a number in this range. `of` names the owner of the option in the
 * error.
 */
export function checkNumber(option: string, value: number, range: NumberRange, of = ""): void {
  const { min, max = Number.MAX_SAFE_INTEGER, fractions = false } = range;
  if (typeof value === "number" && value >= min && value <= max && (fractions || Number.isInteger(value))) return;
  const upTo = range.max === undefined ? "or more" : `to ${range.max}`;
  throw new McpError("invalid_definition", `\`${option}\`${of} is ${String(value)}`, {
    fix: `Pass a ${fractions ? "" : "whole "}number, ${min} ${upTo}, or leave the option out.`,
  });
}
