import { connect, type Server } from "@parley/mcp";
import { Host } from "../../../src/host/host.js";
import { SKILLS_EXTENSION } from "../../../src/protocol/features/skills.js";
import { type EraName, NEWEST_STATEFUL, NEWEST_STATELESS } from "../../../src/protocol/revisions.js";
import type { ServerOptions } from "../../../src/server/contract/options.js";
import { internalsOf } from "../../../src/server/server.js";
import type { TransportUnderTest } from "./transport-under-test.js";

const REVISIONS = { stateful: NEWEST_STATEFUL, stateless: NEWEST_STATELESS } as const;

/** A gateway between the client and the server, which speaks `era` to the server. */
function gateway(era: EraName): TransportUnderTest {
  return {
    name: `gateway-${era}`,
    async serve(server) {
      const behind = server();
      const options = optionsLike(behind);
      const host = new Host({
        servers: { s: { server: behind, prefix: false } },
        client: { revisions: [REVISIONS[era]], extensions: options.extensions ?? [] },
      });
      const front = host.asServer({ server: options });
      await host.start();
      return {
        connect: (given) => connect(front, given),
        async close() {
          await front.close();
          await host.close();
        },
      };
    },
  };
}

/** What whoever runs the gateway would set as well: it is the gateway that cuts lists into pages and knows extensions. */
function optionsLike(behind: Server<unknown, unknown, unknown>): ServerOptions {
  const { pageSize, extensions = [], cache } = internalsOf(behind).config.options;
  return {
    extensions: extensions.filter(({ id }) => id !== SKILLS_EXTENSION),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(cache?.ttlMs === undefined
      ? {}
      : { cache: { discover: { ttlMs: cache.ttlMs, scope: cache.scope ?? "private" } } }),
  };
}

/** To a server with sessions, and to one without. */
export const gateways: readonly TransportUnderTest[] = [gateway("stateful"), gateway("stateless")];
