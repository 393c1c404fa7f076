import type { Client } from "@parley/mcp";
import { type EraName, NEWEST_STATEFUL, NEWEST_STATELESS } from "../../src/protocol/revisions.js";
import type { Scenario } from "./scenario.js";
import type { TransportUnderTest } from "./transports/transport-under-test.js";

const REVISIONS = { stateful: NEWEST_STATEFUL, stateless: NEWEST_STATELESS } as const;

/** Runs one scenario over one transport in one era; rejects when it does not hold. Everything opened is closed. */
export async function runCell(
  transport: TransportUnderTest,
  era: EraName,
  file: string,
  one: Scenario<never>,
): Promise<void> {
  const revision = REVISIONS[era];
  const served = await transport.serve(() => one.server(), file);
  const clients: Client<never>[] = [];
  try {
    await one.run({
      transport: transport.name,
      era,
      revision,
      async connect(options) {
        // The scenario's own type parameter says what the client knows; the grid does not.
        const client = (await served.connect({ revisions: [revision], ...options })) as Client<never>;
        clients.push(client);
        return client;
      },
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await served.close();
  }
}
