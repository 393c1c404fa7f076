import { MessageChannel } from "node:worker_threads";
import { connect } from "@parley/mcp";
import { platform } from "../../../src/node/platform.js";
import { channelTransport } from "../../../src/transport/channel/client.js";
import { messagePortChannel } from "../../../src/transport/channel/message-port.js";
import { serveChannel } from "../../../src/transport/channel/server.js";
import type { TransportUnderTest } from "./transport-under-test.js";

/** The ports by which workers and frames talk. */
export const messagePort: TransportUnderTest = {
  name: "message-port",
  async serve(server) {
    const endpoint = server().endpoint();
    return {
      connect(options) {
        const { port1, port2 } = new MessageChannel();
        serveChannel(endpoint, messagePortChannel(port2, { platform }));
        return connect(channelTransport(messagePortChannel(port1, { platform }), "a port"), options);
      },
      close: async () => {},
    };
  },
};
