import type { Server } from "@parley/mcp";
import type { Channel, ChannelReceiver } from "../../src/jsonrpc/connection.js";
import { channelPair } from "../../src/transport/channel/channel-pair.js";
import { channelTransport } from "../../src/transport/channel/client.js";
import { serveChannel } from "../../src/transport/channel/server.js";
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

/** What is different in every run: sealed states, and the ids that a server gives to its questions. */
const CHANCE = { state: /(?<="requestState":")[^"]+(?=")/g, question: /(?<="id":")[^"]+(?=")/g };

/** Names what is different in every run, in the order of its first appearance. */
export function withoutChance(lines: readonly string[]): string[] {
  return Object.entries(CHANCE).reduce<readonly string[]>((done, [kind, pattern]) => {
    const names = new Map<string, string>();
    return done.map((line) =>
      line.replace(pattern, (found) => {
        const name = names.get(found) ?? `<${kind} ${names.size + 1}>`;
        names.set(found, name);
        return name;
      }),
    );
  }, lines) as string[];
}
