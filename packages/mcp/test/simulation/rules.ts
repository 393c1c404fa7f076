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
  I15: "no call times out before its time, whatever the wall clock says",
  I16: "where nothing breaks, every call brings its result, also while the storage is full",
  I17: "who has credentials that expired is told nothing more, and nothing runs for them",
  I18: "a server that drains delivers what its handlers came to in time",
  history: "nothing runs that nobody called, or more often than it may",
  liveness: "a run ends",
  typed: "every failure is an McpError with its kind",
} as const;

export type Rule = keyof typeof RULES;
