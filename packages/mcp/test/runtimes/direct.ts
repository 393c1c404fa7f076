import { connect } from "@parley/mcp";
import type { TransportUnderTest } from "../scenarios/transports/transport-under-test.js";

/** A server in the same process, as users connect to it. */
export const direct: TransportUnderTest = {
  name: "in-memory",
  async serve(server) {
    const one = server();
    return { connect: (options) => connect(one, options), close: async () => {} };
  },
};
