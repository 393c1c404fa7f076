import { Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { greetsIn, scriptedPipe } from "../../../mcp/test/client/scripted-pipe.js";
import { openRooms } from "../calls/opened-rooms.js";
import { ERAS } from "../engine/opened-engine.js";

const library = () =>
  new Server({ name: "s", version: "1" })
    .resource("file:///a", { name: "a" }, () => "a")
    .resource("file:///b", { name: "b" }, () => "b");

for (const revision of ERAS) {
  for (const over of ["memory", "http"] as const) {
    describe(`subscriptions over ${over}, ${revision}`, () => {
      it("count what the server announces, each of its own resource", async () => {
        const server = library();
        const { subscriptions, connection, when } = await openRooms(server, { revision, over });
        await subscriptions.subscribe(connection, "file:///a");
        await subscriptions.subscribe(connection, "file:///b");
        server.resourceUpdated("file:///a");
        await when(() => subscriptions.list().some(({ updates }) => updates === 1));
        server.resourceUpdated("file:///b");
        await when(() => subscriptions.list().every(({ updates }) => updates === 1));
        server.resourceUpdated("file:///a");
        await when(() => subscriptions.list()[0]?.updates === 2);
        expect(subscriptions.list()).toEqual([
          { connection: "c1", uri: "file:///a", updates: 2 },
          { connection: "c1", uri: "file:///b", updates: 1 },
        ]);
      });

      it("are there once, and end when the user ends them", async () => {
        const server = library();
        const { subscriptions, connection, when } = await openRooms(server, { revision, over });
        const both = ["file:///a", "file:///a"].map((uri) => subscriptions.subscribe(connection, uri));
        await Promise.all(both);
        expect(subscriptions.list()).toHaveLength(1);
        await subscriptions.unsubscribe("c1", "file:///a");
        await subscriptions.unsubscribe("c1", "file:///a");
        expect(subscriptions.list()).toEqual([]);
        await subscriptions.subscribe(connection, "file:///a");
        server.resourceUpdated("file:///a");
        await when(() => subscriptions.list()[0]?.updates === 1);
      });

      it("end with the connection", async () => {
        const { subscriptions, connection, when } = await openRooms(library(), { revision, over });
        await subscriptions.subscribe(connection, "file:///a");
        await connection.client.close();
        await when(() => subscriptions.list().length === 0);
      });
    });
  }
}

describe("a subscription", () => {
  it("that the server refuses is not there, and can be tried again", async () => {
    const refusing = scriptedPipe((message, pipe) => {
      if (greetsIn("stateful", message, pipe)) return;
      pipe.refuse(message, -32602, "no such resource");
    });
    const { subscriptions, connection } = await openRooms(refusing, { revision: "2025-11-25" });
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(subscriptions.subscribe(connection, "file:///a")).rejects.toThrow("no such resource");
      expect(subscriptions.list()).toEqual([]);
    }
  });

  it("of a server without subscriptions says that it has none", async () => {
    const server = new Server({ name: "s", version: "1" }).tool("t", {}, () => "x");
    const { subscriptions, connection } = await openRooms(server);
    await expect(subscriptions.subscribe(connection, "file:///a")).rejects.toMatchObject({
      kind: "capability_missing",
    });
  });

  it("is renewed when the client reconnects", async () => {
    const dying = scriptedPipe((message, pipe) => {
      if (greetsIn("stateful", message, pipe)) return;
      pipe.answer(message, {});
    });
    const { subscriptions, connection, when } = await openRooms(dying, { revision: "2025-11-25" });
    await subscriptions.subscribe(connection, "file:///a");
    dying.pipes[0]?.end();
    await expect.poll(() => dying.pipes[1]?.heard.some(({ method }) => method === "resources/subscribe")).toBe(true);
    const params = { uri: "file:///a" };
    dying.pipes[1]?.say({ jsonrpc: "2.0", method: "notifications/resources/updated", params });
    await when(() => (subscriptions.list()[0]?.updates ?? 0) > 0);
    // What may have been missed is told too, and is no announcement: whatever came is counted when the next answer is there.
    await subscriptions.subscribe(connection, "file:///b");
    expect(subscriptions.list()[0]?.updates).toBe(1);
  });

  it("is asked for once and taken back once, however often the user wants it", async () => {
    const willing = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const { subscriptions, connection } = await openRooms(willing, { revision: "2025-11-25" });
    await Promise.all([1, 2].map(() => subscriptions.subscribe(connection, "file:///a")));
    await subscriptions.subscribe(connection, "file:///a");
    await subscriptions.unsubscribe("c1", "file:///a");
    const methods = willing.methods().filter((method) => method.startsWith("resources/"));
    expect(methods).toEqual(["resources/subscribe", "resources/unsubscribe"]);
  });

  it("is refused beyond the limits of the state", async () => {
    const willing = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, {});
    });
    const { subscriptions, connection } = await openRooms(willing, { revision: "2025-11-25" });
    const long = `file:///${"a".repeat(5000)}`;
    await expect(subscriptions.subscribe(connection, long)).rejects.toThrow("more than 4096 characters");
    const uris = Array.from({ length: 200 }, (_, index) => `file:///a/${index}`);
    await Promise.all(uris.map((uri) => subscriptions.subscribe(connection, uri)));
    await expect(subscriptions.subscribe(connection, "file:///b")).rejects.toThrow(
      "there are already 200 subscriptions",
    );
  });
});
