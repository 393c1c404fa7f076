import { describe, expect, it } from "vitest";
import { Drive } from "../../../test/server/drive.js";
import { meta, talk } from "../../../test/server/talk.js";
import type { Extension } from "../../protocol/extension.js";
import { Server } from "../server.js";

const info = { name: "s", version: "1" };
const counting: Extension = {
  id: "com.example/counting",
  settings: {},
  methods: [
    { method: "com.example/count", kind: "request", sender: "client", first: "2026-07-28" },
    { method: "com.example/idle", kind: "request", sender: "client", first: "2026-07-28" },
    { method: "notifications/com.example/counted", kind: "notification", sender: "server", first: "2026-07-28" },
  ],
  listenFilters: ["counts", "countsOf"],
};

describe("a method that the protocol does not have", () => {
  it.each(["2025-11-25", "2026-07-28"] as const)("is served by `handle` in %s, others are -32601", async (revision) => {
    const seen: string[] = [];
    const server = new Server(info)
      .use((call, next) => {
        seen.push(call.method);
        return next();
      })
      .handle("com.example/double", async ({ n }, ctx) => ({ n: Number(n) * 2, method: ctx.method }));
    const drive = new Drive(server, { revision });
    expect((await drive.send("com.example/double", { n: 21 })).result).toMatchObject({
      n: 42,
      method: "com.example/double",
    });
    expect(seen).toContain("com.example/double");
    expect((await drive.send("com.example/other")).error?.code).toBe(-32601);
  });

  it("is served in the revisions of its extension only", async () => {
    const server = new Server(info, { extensions: [counting] }).handle("com.example/count", () => ({ n: 1 }));
    expect((await new Drive(server).send("com.example/count")).result).toMatchObject({ n: 1 });
    expect((await new Drive(server).send("com.example/idle")).error?.code).toBe(-32601);
    const older = new Drive(server, { revision: "2025-11-25" });
    expect((await older.send("com.example/count")).error?.code).toBe(-32601);
  });

  it("is refused when it belongs to the protocol, is served already or is no request, and must have a result", async () => {
    const server = new Server(info, { extensions: [counting] }).handle("com.example/count", () => undefined as never);
    const handler = () => ({});
    expect(() => server.handle("tools/call", handler)).toThrow("is a method of the protocol");
    expect(() => server.handle("com.example/count", handler)).toThrow("already has a handler");
    expect(() => server.handle("notifications/com.example/counted", handler)).toThrow(
      "is not a request that clients send",
    );
    expect(() => server.handle("com.example/x", 5 as never)).toThrow("has no handler function");
    expect((await new Drive(server).send("com.example/count")).error?.message).toContain("did not return an object");
  });
});

describe("a filter of an extension", () => {
  it("is published to the requests that listen to it, and to nobody else", async () => {
    const server = new Server(info, { extensions: [counting] }).tool("t", {}, () => "");
    const listener = await talk(server, "2026-07-28");
    const older = await talk(server, "2025-11-25");
    const notifications = { counts: true, countsOf: ["a"], unknown: true };
    void listener.ask("subscriptions/listen", { notifications, _meta: meta("2026-07-28") });
    const acknowledged = await listener.until(({ method }) => method?.endsWith("acknowledged") === true);
    expect(acknowledged.params?.["notifications"]).toEqual({ counts: true, countsOf: ["a"] });
    const method = "notifications/com.example/counted";
    server.publish({ filter: "counts", method, params: { n: 1 } });
    server.publish({ filter: "countsOf", value: "b", method, params: { n: 2 } });
    server.publish({ filter: "countsOf", value: "a", method, params: { n: 3 } });
    await listener.until(({ params }) => params?.["n"] === 3);
    expect(listener.notices(method).map(({ params }) => params?.["n"])).toEqual([1, 3]);
    expect(older.notices(method)).toEqual([]);
    expect(() => server.publish({ filter: "toolsListChanged", method })).toThrow("no extension of this server");
    server.endSubscriptions();
    listener.close();
    older.close();
  });
});
