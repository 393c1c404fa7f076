import { type FullRate, fullRate, type PrincipalQuota, type Rate, type ToolRate } from "../contract/quota-options.js";

/** One limit, created from an option. */
export interface Limit {
  /** The option that sets the limit. */
  readonly option: string;
  /** Distinguishes the counts of this limit from the counts of other limits. */
  readonly kind: string;
  /** True if the limit applies to all callers together. */
  readonly server: boolean;
  /**
   * The things that count: `any` request, `calls` (requests that end by themselves), `streams` (requests that stay
   * open, and HTTP GET streams), or `sessions`.
   */
  readonly counts: "any" | "calls" | "streams" | "sessions";
  /** The limit as a sentence for the model. */
  readonly text: string;
  readonly rate?: FullRate | undefined;
  /** Maximum number of calls, streams or sessions at the same time. Absent for a rate. */
  readonly max?: number | undefined;
}

/** Creates the limits that a quota sets. */
export function limitsOf(whose: "perPrincipal" | "perServer", quota: PrincipalQuota | undefined): Limit[] {
  const server = whose === "perServer";
  const of = server ? "for all callers together" : "for each caller";
  const limits: Limit[] = [];
  const { rate } = quota ?? {};
  if (rate !== undefined) {
    const option = `quotas.${whose}.rate`;
    const text = rateText(rate, of);
    limits.push({ option, kind: `${whose} rate`, server, counts: "any", text, rate: fullRate(option, rate) });
  }
  for (const counts of ["calls", "streams", "sessions"] as const) {
    const max = quota?.[counts];
    if (max === undefined) continue;
    const text = `Too many at once: at most ${max} ${counts} ${of}.`;
    limits.push({ option: `quotas.${whose}.${counts}`, kind: `${whose} ${counts}`, server, counts, text, max });
  }
  return limits;
}

/** Creates the limit of a tool with a `rate`. Throws if the rate is invalid. */
export function toolLimit(tool: string, rate: ToolRate): Limit {
  const server = rate.per === "server";
  const text = rateText(rate, `of the tool "${tool}" ${server ? "for all callers together" : "for each caller"}`);
  const full = fullRate(`rate\` of tool "${tool}"`, rate);
  return { option: `rate of tool "${tool}"`, kind: `tool ${tool}`, server, counts: "any", text, rate: full };
}

function rateText({ calls, perMs }: Rate, of: string): string {
  return `Too many calls: at most ${calls} in ${perMs / 1000} s ${of}.`;
}
