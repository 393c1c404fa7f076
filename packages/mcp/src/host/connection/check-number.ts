import { McpError } from "../../protocol/error.js";

/** What a number must be. */
interface NumberRange {
  readonly least: number;
  readonly most?: number;
  /** Whether it need not be a whole number. */
  readonly fractions?: boolean;
}

/** Throws `invalid_definition` for an option that is not a number of this range; `of` says whose it is. */
export function checkNumber(option: string, value: number, range: NumberRange, of = ""): void {
  const { least, most = Number.MAX_SAFE_INTEGER, fractions = false } = range;
  if (typeof value === "number" && value >= least && value <= most && (fractions || Number.isInteger(value))) return;
  const upTo = range.most === undefined ? "or more" : `to ${range.most}`;
  throw new McpError("invalid_definition", `\`${option}\`${of} is ${String(value)}`, {
    fix: `Pass a ${fractions ? "" : "whole "}number, ${least} ${upTo}, or leave the option out.`,
  });
}
