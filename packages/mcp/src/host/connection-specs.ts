import type { RemoteConnection } from "./connection/remote-connection.js";
import type { HostedState } from "./host-events.js";
import type { HostedServer } from "./hosted-server.js";
import type { ChildSpec } from "./supervision/child-spec.js";
import type { ChildState } from "./supervision/state-table.js";

const RETRY_MS = 60_000;

/** What each state of a supervised connection means for its server. */
export const HOSTED_STATES: Readonly<Record<ChildState, HostedState>> = {
  waiting: "restarting",
  starting: "starting",
  running: "ready",
  stopping: "stopped",
  stopped: "stopped",
  ended: "stopped",
  failed: "failed",
};

/** The connections of a server as children of a supervisor. */
export function connectionSpecs(server: HostedServer, retryMs = RETRY_MS): ChildSpec<RemoteConnection>[] {
  const { name, size, startMs, options } = server.parts;
  return Array.from({ length: size }, (_, index) => ({
    id: childId(name, index),
    start: (signal) => server.start(signal),
    ended: async (connection) => {
      const ended = await connection.ended;
      // Why it ended says more than that it did.
      const reason = ended?.cause instanceof Error ? ended.cause : ended;
      return { normal: false, reason: reason?.message ?? "the connection was closed", error: reason };
    },
    stop: (connection) => connection.close(),
    // With a login the deadlines of the connection and of its lists, which are as long, do not count the time of the user.
    startMs: options.auth === undefined ? startMs : Number.POSITIVE_INFINITY,
    retryMs,
  }));
}

/** What a further connection adds to the name of its server. */
const NUMBER = /#\d+$/;

/** Names of servers that end like those of connections get a number from the first on, so that no two meet. */
function childId(name: string, index: number): string {
  return index === 0 && !NUMBER.test(name) ? name : `${name}#${index + 1}`;
}

/** The name of the server that a child belongs to. */
export function serverOf(child: string): string {
  return child.replace(NUMBER, "");
}
