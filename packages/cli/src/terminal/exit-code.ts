/** Exit codes of every command; `docs/cli.md` has the same table. */
export const EXIT = {
  /** The command succeeded. */
  ok: 0,
  /** The server answered with a failure: a tool failed, a name is unknown, an argument was rejected. */
  failed: 1,
  /** The command line is invalid. */
  usage: 2,
  /** The server could not be reached, or the connection was lost. */
  unreachable: 3,
  /** The server requires a login, or more scopes. */
  unauthorized: 4,
  /** A check found something: drift, an exceeded budget, a broken rule, a difference. */
  findings: 5,
  /** Ended by SIGINT or SIGTERM. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
