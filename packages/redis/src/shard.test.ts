import { expect, it } from "vitest";
import type { RedisNode } from "./redis-client.js";
import { Shard } from "./shard.js";
import { Topic } from "./topic.js";

/** More topics than one SUBSCRIBE has channels, so that a connection is prepared by two of them. */
const COUNT = 600;

it("unsubscribes what leaves after its own part of a new connection was prepared, and before all of it was", async () => {
  const subscribed: string[][] = [];
  const unsubscribed: string[] = [];
  let finish = () => {};
  const rest = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const node: RedisNode = {
    isReady: true,
    options: {},
    connect: async () => undefined,
    close: async () => undefined,
    destroy: () => {},
    sendCommand: async () => "PONG",
    duplicate: () => node,
    on: () => undefined,
    subscribe: (channels) => (subscribed.push([channels].flat()) > 1 ? rest : Promise.resolve()),
    unsubscribe: async (channels) => void unsubscribed.push(...[channels].flat()),
    sSubscribe: async () => {},
    sUnsubscribe: async () => {},
  };
  const shard = new Shard({
    isSharded: false,
    make: async () => node,
    deliver: () => {},
    onMoved: () => {},
    onRefused: () => {},
    connectMs: 60_000,
    timeoutMs: 60_000,
  });
  const topics = Array.from({ length: COUNT }, (_, at) => new Topic(`${at}`));
  const added = topics.map((topic) => shard.add(topic));
  const [first] = topics;
  await expect.poll(() => first?.isLive).toBe(true);
  expect(subscribed).toHaveLength(2);
  for (const topic of topics.slice(0, 2)) shard.remove(topic);
  const anew = new Topic("1");
  added.push(shard.add(anew));
  finish();
  await Promise.all(added);
  expect(unsubscribed).toEqual(["0"]);
  expect(anew.isLive).toBe(true);
  shard.close();
});
