import { connect } from "@parley/mcp";
import { Host } from "../../../src/host/host.js";
import { type EraName, NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import type { TransportUnderTest } from "./transport-under-test.js";

const REVISIONS = { stateful: NEWEST_STATEFUL, stateless: NEWEST_STATELESS } as const;

/** A gateway between the client and the server, which speaks `era` to the server. */
function gateway(era: EraName): TransportUnderTest {
  return {
    name: `gateway-${era}`,
    async serve(server) {
      const host = new Host({
        servers: { s: { server: server(), prefix: false } },
        client: { revisions: [REVISIONS[era]] },
      });
      await host.start();
      const front = host.asServer();
      return {
        connect: (options) => connect(front, options),
        async close() {
          await front.close();
          await host.close();
        },
      };
    },
  };
}

/** To a server with sessions, and to one without. */
export const gateways: readonly TransportUnderTest[] = [gateway("stateful"), gateway("stateless")];
