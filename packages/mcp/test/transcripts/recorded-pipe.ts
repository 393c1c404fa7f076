import type { Server } from "@parley/mcp";
import type { Channel, ChannelReceiver } from "../../src/jsonrpc/channel.js";
import { channelTransport } from "../../src/transport/channel-client.js";
import { serveChannel } from "../../src/transport/channel-server.js";
import { channelPair } from "../../src/transport/in-memory.js";
import type { Transport } from "../../src/transport/transport.js";

/** A pipe to a server that writes down everything that passes. */
export interface RecordedPipe {
  /** For `connect`: every call makes a new connection. */
  makeTransport(): Transport;
  lines: string[];
  /** Ends the connection from the server's side. */
  cut(): void;
}

export function recordedPipe(server: Server<never>): RecordedPipe {
  const lines: string[] = [];
  let current: Channel | undefined;
  return {
    lines,
    makeTransport() {
      if (current !== undefined) lines.push("-- a new connection");
      const [here, there] = channelPair();
      current = there;
      serveChannel(server.endpoint(), there);
      return channelTransport(recorded(here, lines), "a recorded server");
    },
    cut() {
      lines.push("-- the connection ends");
      void current?.close();
    },
  };
}

function recorded(channel: Channel, lines: string[]): Channel {
  return {
    open(receiver: ChannelReceiver) {
      channel.open({
        message(text) {
          lines.push(`< ${text}`);
          receiver.message(text);
        },
        fault: (error) => receiver.fault(error),
        closed: (reason) => receiver.closed(reason),
      });
    },
    send(text) {
      lines.push(`> ${text}`);
      channel.send(text);
    },
    close: () => channel.close(),
  };
}

/** Names what is different in every run, in the order of its first appearance. */
export function withoutChance(lines: readonly string[]): string[] {
  const states = new Map<string, string>();
  return lines.map((line) =>
    line.replace(/"requestState":"([^"]+)"/g, (_whole, state: string) => {
      const name = states.get(state) ?? `<state ${states.size + 1}>`;
      states.set(state, name);
      return `"requestState":"${name}"`;
    }),
  );
}
