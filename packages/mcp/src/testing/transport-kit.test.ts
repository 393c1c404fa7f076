import { describe, expect, it } from "vitest";
import type { Channel, ChannelReceiver } from "../jsonrpc/connection.js";
import { channelPair } from "../transport/channel/channel-pair.js";
import { type ChannelPair, transportContract } from "./transport-kit.js";

describe("the in-memory channel keeps the contract of channels", () => {
  for (const { name, run } of transportContract()) {
    it(name, () =>
      run(() => {
        const [a, b] = channelPair();
        return { a, b };
      }),
    );
  }
});

describe("the contract notices a channel that", () => {
  const violations: [fault: string, wrap: (channel: Channel) => Partial<Channel>][] = [
    ["says `closed` twice", (inner) => receiving(inner, ({ closed }) => ({ closed: () => [closed(), closed()] }))],
    ["loses a message", (inner) => ({ send: (text: string) => text !== '{"a":77}' && inner.send(text) })],
    [
      "delivers in another order",
      (inner) => {
        let held: string | undefined;
        return {
          send(text) {
            if (held === undefined && text === '{"a":9}') held = text;
            else inner.send(text);
            if (text === '{"a":10}' && held !== undefined) inner.send(held);
          },
        };
      },
    ],
    ["throws after `close`", (inner) => throwingAfterClose(inner)],
    [
      "changes a character",
      (inner) => receiving(inner, ({ message }) => ({ message: (text: string) => message(text.normalize()) })),
    ],
  ];

  it.each(violations)("%s", async (_fault, wrap) => {
    const make = (): ChannelPair => {
      const [a, b] = channelPair();
      return { a: { ...methodsOf(a), ...wrap(a) }, b: { ...methodsOf(b), ...wrap(b) } };
    };
    const results = await Promise.allSettled(transportContract().map(({ run }) => run(make)));
    expect(results.some(({ status }) => status === "rejected")).toBe(true);
  });
});

function methodsOf(inner: Channel): Channel {
  return { open: (r) => inner.open(r), send: (t) => inner.send(t), close: () => inner.close() };
}

type Change = (receiver: ChannelReceiver) => { message?(text: string): unknown; closed?(): unknown };

function receiving(inner: Channel, change: Change): Partial<Channel> {
  return {
    open(receiver) {
      const bound = {
        message: (text: string) => receiver.message(text),
        fault: (error: Error) => receiver.fault(error),
        closed: (reason?: Error) => receiver.closed(reason),
      };
      inner.open({ ...bound, ...change(bound) } as ChannelReceiver);
    },
  };
}

function throwingAfterClose(inner: Channel): Partial<Channel> {
  let closed = false;
  return {
    send(text) {
      if (closed) throw new Error("closed");
      inner.send(text);
    },
    close() {
      closed = true;
      return inner.close();
    },
  };
}
