import { expect, it } from "vitest";
import { talk, turn } from "../../../test/server/talk.js";
import { resource, type Watch } from "../contract/resource.js";
import { Server } from "../server.js";

const UPDATED = "notifications/resources/updated";

/** A watch that writes down when it begins and ends, and lets the test make changes. */
function recorder() {
  const log: string[] = [];
  const changes = new Map<string, () => void>();
  const watch: Watch = (uri, updated) => {
    log.push(`watch ${uri}`);
    changes.set(uri, updated);
    return () => log.push(`stop ${uri}`);
  };
  return { log, change: (uri: string) => changes.get(uri)?.(), watch };
}

it("a resource is watched from its first subscriber to its last, in both eras", async () => {
  const { log, change, watch } = recorder();
  const server = new Server({ name: "s", version: "1" })
    .resource("t://a", { watch }, () => "")
    .resourceTemplate("t://row/{id}", { watch }, () => "");
  const one = await talk(server, "2025-11-25");
  const two = await talk(server, "2026-07-28");
  expect(log).toEqual([]);
  await one.result("resources/subscribe", { uri: "t://a" });
  void two.ask("subscriptions/listen", { notifications: { resourceSubscriptions: ["t://a", "t://row/1"] } }, 1);
  await two.until(({ method }) => method === "notifications/subscriptions/acknowledged");
  expect(log.splice(0)).toEqual(["watch t://a", "watch t://row/1"]);
  change("t://a");
  await turn();
  expect(one.notices(UPDATED)).toHaveLength(1);
  expect(two.notices(UPDATED)).toHaveLength(1);
  await one.result("resources/unsubscribe", { uri: "t://a" });
  await turn();
  expect(log).toEqual([]);
  two.close();
  await turn();
  expect(log).toEqual(["stop t://a", "stop t://row/1"]);
  change("t://a");
});

it("a watch that begins late, fails or throws harms nobody", async () => {
  const warnings: string[] = [];
  let stopped = 0;
  const server = new Server({ name: "s", version: "1" }, { platform: { warn: (text) => warnings.push(text) } })
    .resource("t://late", { watch: async () => () => void stopped++ }, () => "")
    .resource("t://rejects", { watch: () => Promise.reject(new Error("no inotify")) }, () => "")
    .resource("t://stop", { watch: () => () => fail("stopping") }, () => "")
    .resource("t://throws", { watch: () => fail("starting") }, () => "");
  const client = await talk(server, "2025-11-25");
  for (const name of ["late", "rejects", "stop", "throws"]) {
    expect(await client.result("resources/subscribe", { uri: `t://${name}` })).toEqual({});
    await client.result("resources/unsubscribe", { uri: `t://${name}` });
  }
  await turn();
  expect(stopped).toBe(1);
  expect(warnings.join("\n")).toMatch(/no inotify[\s\S]*stopping|stopping[\s\S]*no inotify/);
  expect(warnings.join("\n")).toContain("starting");
});

it("a resource that is replaced while somebody is subscribed is watched anew", async () => {
  const first = recorder();
  const second = recorder();
  const server = new Server({ name: "s", version: "1" }).resource("t://a", { watch: first.watch }, () => "");
  const client = await talk(server, "2025-11-25");
  await client.result("resources/subscribe", { uri: "t://a" });
  server.replace(resource("t://a", { watch: second.watch }, () => ""));
  await turn();
  expect(first.log).toEqual(["watch t://a", "stop t://a"]);
  expect(second.log).toEqual(["watch t://a"]);
  second.change("t://a");
  await turn();
  expect(client.notices(UPDATED)).toHaveLength(1);
});

it("the server's own hooks hear of the first and the last subscriber of each URI", async () => {
  const log: string[] = [];
  const server = new Server(
    { name: "s", version: "1" },
    { onSubscribe: (uri) => log.push(`+${uri}`), onUnsubscribe: (uri) => log.push(`-${uri}`) },
  ).resource("t://a", {}, () => "");
  const [one, two] = [await talk(server, "2025-11-25"), await talk(server, "2025-11-25")];
  for (const client of [one, two]) await client.result("resources/subscribe", { uri: "t://a" });
  for (const client of [one, two]) await client.result("resources/unsubscribe", { uri: "t://a" });
  expect(log).toEqual(["+t://a", "-t://a"]);
});

function fail(what: string): never {
  throw new Error(what);
}
