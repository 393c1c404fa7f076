/** The exit codes of every command; `docs/cli.md` has the same table. */
export const EXIT = {
  /** It worked. */
  ok: 0,
  /** The server answered, and the answer is a failure: a tool that failed, an unknown name, a refused argument. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The server could not be reached, or the connection was lost. */
  unreachable: 3,
  /** The server wants a login, or more rights. */
  unauthorized: 4,
  /** A check found something: drift, a budget, a rule, a difference. */
  findings: 5,
  /** Ended by SIGINT or SIGTERM. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
