/** What holds in every simulated run, whatever breaks in it. */
export const RULES = {
  I1: "every connect, call and close ends once, by its deadline",
  I2: "a result is what a handler made for this very call, and a step runs once",
  I3: "nothing is answered, asked or told after its cancellation or its end",
  I4: "progress grows within one execution, and none comes after the end",
  I5: "nobody is given what belongs to somebody else",
  I6: "what was said arrives once, in order, without a gap and before the result",
  I8: "nothing is left behind: no timer, listener, watch or open request",
  I9: "what runs for a client that has gone is told so at once",
  I10: "a stream that brings nothing is opened at most 8 times in a minute",
  I12: "no rejection is left unhandled",
  I13: "each peer is opened and closed in turn, and told so once",
  I14: "a subscription is acknowledged before it tells of changes",
  history: "nothing runs that nobody called, or more often than it may",
  liveness: "a run ends",
  typed: "every failure is an McpError with its kind",
} as const;

export type Rule = keyof typeof RULES;
