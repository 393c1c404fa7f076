import { connect } from "@parley/mcp";
import type { Channel, ChannelReceiver } from "../../../src/jsonrpc/connection.js";
import { channelPair } from "../../../src/transport/channel/channel-pair.js";
import { channelTransport } from "../../../src/transport/channel/client.js";
import { serveChannel } from "../../../src/transport/channel/server.js";
import { type RecordingOracle, recordingOracle } from "../../oracle/recording-oracle.js";
import type { TransportUnderTest } from "./transport-under-test.js";

/** Two ends in one process; every message that crosses is checked against the published schemas. */
export const inMemory: TransportUnderTest = {
  name: "in-memory",
  async serve(server) {
    const endpoint = server().endpoint();
    const oracles: RecordingOracle[] = [];
    return {
      async connect(options) {
        const [here, there] = channelPair();
        const revision = options.revisions?.[0];
        if (revision !== undefined && options.extensions === undefined) {
          const oracle = await recordingOracle({ revision });
          oracles.push(oracle);
          serveChannel(endpoint, recorded(there, oracle));
        } else serveChannel(endpoint, there);
        return connect(channelTransport(here, "the scenario's server"), options);
      },
      async close() {
        for (const oracle of oracles) oracle.assertValid();
      },
    };
  },
};

/** The server's end, with both directions written down. */
function recorded(channel: Channel, oracle: RecordingOracle): Channel {
  return {
    open(receiver: ChannelReceiver) {
      channel.open({
        ...receiver,
        message(text) {
          oracle.record("client", text);
          receiver.message(text);
        },
        fault: (error) => receiver.fault(error),
        closed: (reason) => receiver.closed(reason),
      });
    },
    send(text) {
      oracle.record("server", text);
      channel.send(text);
    },
    close: () => channel.close(),
  };
}
