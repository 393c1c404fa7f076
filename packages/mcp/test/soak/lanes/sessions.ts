import { atMost, exactly, type Lane, scaled, told } from "../lane.js";
import { KILOBYTE, MEGABYTE, type Memory } from "../memory.js";
import { askForSession, echoCall, openSession, sessionHeaders } from "../messages.js";
import { startProgram } from "../program.js";
import type { ToolServerSettings } from "../programs/tool-server.js";
import { RawConnection } from "../raw-connection.js";
import { waitFor } from "../wait-for.js";

const CONNECTIONS = 16;
/** Opened and ended before the count begins. */
const FIRST = 100;

export const sessions: Lane = {
  name: "sessions",
  what: "10,000 sessions that do nothing, until they expire",
  async run({ scale, bundle, say }) {
    const count = scaled(10_000, scale);
    // Longer than opening all of them takes, so that none expires before the last one is counted.
    const idleMs = Math.max(4000, 60_000 * scale);
    const settings: ToolServerSettings = { limits: { maxSessions: count }, times: { sessionIdleMs: idleMs } };
    const file = await bundle(new URL("../programs/tool-server.ts", import.meta.url));
    const server = await startProgram<{ port: number }>(file, settings);
    const connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => RawConnection.open(server.ready.port)),
    );
    try {
      await endAll(connections, await open(connections, Math.min(count, FIRST)));
      const before = await server.ask<Memory>("memory");
      const since = performance.now();
      const ids = await open(connections, count);
      const seconds = (performance.now() - since) / 1000;
      say(`${count} sessions opened in ${seconds.toFixed(1)} s`);
      const held = await server.ask<Memory>("memory");
      const open_ = await server.ask<number>("sessions");
      const refused = await askForSession(first(connections), "one too many");
      const gone = await waitFor(async () => (await server.ask<number>("sessions")) === 0, idleMs * 2 + 10_000, 200);
      say(gone ? "all expired" : "not all expired");
      const after = await server.ask<Memory>("memory");
      const answers = await statusesOf(first(connections), ids.slice(0, 20));
      const warnings = await server.ask<string[]>("warnings");
      return {
        size: { sessions: count },
        measures: [
          exactly("sessions open at once", open_, count),
          exactly("status of one more than allowed", refused.status, 503),
          atMost("memory", "heap per session", (held.heap - before.heap) / KILOBYTE / count, 10, "KB"),
          told("memory", "resident memory with all open", held.rss / MEGABYTE, "MB"),
          exactly("sessions open after expiry", await server.ask<number>("sessions"), 0),
          exactly(
            "calls in an expired session that got 404",
            answers.filter((status) => status === 404).length,
            answers.length,
          ),
          atMost("memory", "heap left after expiry", (after.heap - before.heap) / MEGABYTE, 5, "MB"),
          exactly("warnings of the runtime", warnings.length, 0),
          told("time", "sessions opened per second", count / seconds, "/s"),
        ],
      };
    } finally {
      for (const connection of connections) connection.close();
      await server.stop();
    }
  },
};

function first(connections: readonly RawConnection[]): RawConnection {
  const [connection] = connections;
  if (connection === undefined) throw new Error("there is no connection");
  return connection;
}

async function open(connections: readonly RawConnection[], count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  const work = async (connection: RawConnection) => {
    while (left-- > 0) ids.push(await openSession(connection, `idle-${left}`));
  };
  await Promise.all(connections.map(work));
  return ids;
}

async function endAll(connections: readonly RawConnection[], ids: readonly string[]): Promise<void> {
  for (const id of ids) await first(connections).send("DELETE", sessionHeaders(id));
}

/** What calls in these sessions are answered with. */
async function statusesOf(connection: RawConnection, ids: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const id of ids) {
    const { headers, body } = echoCall(1, 1, id);
    statuses.push((await connection.send("POST", headers, body)).status);
  }
  return statuses;
}
