import type { PubSub, Unsubscribe } from "../storage.js";
import { type StorageCase, same, storageCase } from "./contract-case.js";

interface Listener {
  /** The messages received so far. */
  readonly received: string[];
  /** Resolves when a message with this text has arrived. */
  until(message: string): Promise<void>;
  readonly stop: Unsubscribe;
}

async function listen(pubsub: PubSub, topic: string): Promise<Listener> {
  const received: string[] = [];
  const waiting = new Map<string, () => void>();
  const stop = await pubsub.subscribe(topic, (message) => {
    received.push(message);
    waiting.get(message)?.();
  });
  const until = (message: string) =>
    new Promise<void>((resolve) => {
      if (received.includes(message)) resolve();
      else waiting.set(message, resolve);
    });
  return { received, until, stop };
}

export const pubSubCases: readonly StorageCase[] = [
  storageCase(
    "every subscription receives each message once, including the publisher's own",
    async (storage, other) => {
      const listeners = [
        await listen(storage.pubsub, "t"),
        await listen(storage.pubsub, "t"),
        await listen(other.pubsub, "t"),
      ];
      await storage.pubsub.publish("t", "a");
      await storage.pubsub.publish("t", "end");
      await Promise.all(listeners.map(({ until }) => until("end")));
      for (const { received } of listeners) same(received, ["a", "end"], "received");
    },
  ),
  storageCase("one publisher's messages arrive in order, even if it does not wait", async (storage, other) => {
    const listener = await listen(other.pubsub, "t");
    const sent = Array.from({ length: 200 }, (_, index) => `${index}`);
    await Promise.all(sent.map((message) => storage.pubsub.publish("t", message)));
    await listener.until("199");
    same(listener.received, sent, "received");
  }),
  storageCase("any string may be a topic or a message, and topics do not mix", async ({ pubsub }) => {
    const topics = ["", "t", "t*", "__proto__", "t\u0000é😀"];
    const listeners = await Promise.all(topics.map((topic) => listen(pubsub, topic)));
    for (const topic of topics) {
      for (const message of ["", "é😀\u0000\n", `end of ${topic}`]) await pubsub.publish(topic, message);
    }
    for (const [index, listener] of listeners.entries()) {
      await listener.until(`end of ${topics[index]}`);
      same(listener.received, ["", "é😀\u0000\n", `end of ${topics[index]}`], "received");
    }
  }),
  storageCase("a message without subscribers is dropped", async ({ pubsub }) => {
    await pubsub.publish("t", "early");
    const listener = await listen(pubsub, "t");
    await pubsub.publish("t", "end");
    await listener.until("end");
    same(listener.received, ["end"], "received");
  }),
  storageCase("nothing is delivered after unsubscribing, and others still receive", async ({ pubsub }) => {
    const leaving = await listen(pubsub, "t");
    const staying = await listen(pubsub, "t");
    await pubsub.publish("t", "a");
    await Promise.all([leaving.until("a"), staying.until("a")]);
    await leaving.stop();
    await leaving.stop();
    await pubsub.publish("t", "end");
    await staying.until("end");
    same(leaving.received, ["a"], "the one that left");
    same(staying.received, ["a", "end"], "the one that stayed");
  }),
  storageCase("the same function may subscribe twice, and each subscription ends alone", async ({ pubsub }) => {
    const received: string[] = [];
    const deliver = (message: string) => received.push(message);
    const stop = await pubsub.subscribe("t", deliver);
    await pubsub.subscribe("t", deliver);
    const witness = await listen(pubsub, "t");
    await pubsub.publish("t", "a");
    await witness.until("a");
    await stop();
    await pubsub.publish("t", "end");
    await witness.until("end");
    same(received, ["a", "a", "end"], "received");
  }),
  storageCase("a subscriber that throws does not stop delivery to others", async ({ pubsub }) => {
    await pubsub.subscribe("t", () => {
      throw new Error("a subscriber's own fault");
    });
    const listener = await listen(pubsub, "t");
    await pubsub.publish("t", "a");
    await pubsub.publish("t", "end");
    await listener.until("end");
    same(listener.received, ["a", "end"], "received");
  }),
  storageCase("publishing from within deliver keeps one order for all", async ({ pubsub }) => {
    const stop = await pubsub.subscribe("t", (message) => {
      if (message === "a") void pubsub.publish("t", "end");
    });
    const listener = await listen(pubsub, "t");
    await pubsub.publish("t", "a");
    await listener.until("end");
    same(listener.received, ["a", "end"], "received");
    await stop();
  }),
];
