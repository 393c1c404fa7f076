import { type FullRate, fullRate, type PrincipalQuota, type Rate, type ToolRate } from "../contract/quota-options.js";

/** One limit of calls, made once. */
export interface Limit {
  /** The option that sets it. */
  readonly option: string;
  /** Tells its counts from those of others. */
  readonly kind: string;
  /** Whether all callers count together. */
  readonly server: boolean;
  /** Whether it counts requests of any kind, those that end by themselves, those that last, or sessions. */
  readonly counts: "any" | "calls" | "streams" | "sessions";
  /** For the model: what is allowed, as a sentence. */
  readonly text: string;
  readonly rate?: FullRate | undefined;
  /** Of a limit of what runs or exists at once. */
  readonly max?: number | undefined;
}

/** The limits that a quota sets. */
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
    const most = quota?.[counts];
    if (most === undefined) continue;
    const text = `Too many at once: at most ${most} ${counts} ${of}.`;
    limits.push({ option: `quotas.${whose}.${counts}`, kind: `${whose} ${counts}`, server, counts, text, max: most });
  }
  return limits;
}

/** The limit of a tool with a `rate`. Throws for one that cannot be meant. */
export function toolLimit(tool: string, rate: ToolRate): Limit {
  const server = rate.per === "server";
  const text = rateText(rate, `of the tool "${tool}" ${server ? "for all callers together" : "for each caller"}`);
  const full = fullRate(`rate\` of tool "${tool}"`, rate);
  return { option: `rate of tool "${tool}"`, kind: `tool ${tool}`, server, counts: "any", text, rate: full };
}

function rateText({ calls, perMs }: Rate, of: string): string {
  return `Too many calls: at most ${calls} in ${perMs / 1000} s ${of}.`;
}
