import { type Client, connect, Server } from "@parley/mcp";
import { ServerRegistry } from "@parley/mcp/registry";
import { afterEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../http/watched.js";
import { namedServer, textOf } from "./named-server.js";

const clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

async function bound(revision: "2025-11-25" | "2026-07-28", first: Server = namedServer("first") as Server) {
  const registry = new ServerRegistry();
  registry.register("a", first);
  const binding = registry.bind("a");
  const client = await connect(binding, { revisions: [revision] });
  clients.push(client);
  return { registry, binding, client };
}

const who = async (client: Client) => textOf(await client.callTool("who"));

describe.each(["2025-11-25", "2026-07-28"] as const)(
  "a server that is replaced under its clients, in %s",
  (revision) => {
    it("leaves them connected, and gets their next calls", async () => {
      const { registry, client } = await bound(revision);
      expect(await who(client)).toBe("first");
      const tools = await client.subscribe({ tools: true, prompts: true });
      await registry.replace("a", namedServer("second"));
      expect(await who(client)).toBe("second");
      const changes = tools[Symbol.asyncIterator]();
      const kinds = [(await changes.next()).value?.kind, (await changes.next()).value?.kind];
      expect(kinds.toSorted()).toEqual(["prompts", "tools"]);
      expect((await client.allTools()).map(({ name }) => name)).toEqual(["who", "only-second"]);
      expect(client.state).toBe("ready");
    });

    it("keeps the subscriptions of its clients at the new server, and only there", async () => {
      const [first, second] = [namedServer("first"), namedServer("second")];
      for (const server of [first, second]) server.resource("note://both", {}, () => "");
      const { registry, client } = await bound(revision, first as Server);
      const changes = (await client.subscribe({ tools: true, resources: ["note://both"] }))[Symbol.asyncIterator]();
      await registry.replace("a", second);
      expect((await changes.next()).value).toMatchObject({ kind: "tools" });
      first.resourceUpdated("note://both");
      second.tool("more", {}, () => "");
      expect((await changes.next()).value).toMatchObject({ kind: "tools" });
      second.resourceUpdated("note://both");
      expect((await changes.next()).value).toMatchObject({ kind: "resource", uri: "note://both" });
      expect(second.sessions()).toHaveLength(1);
      expect(first.sessions()).toHaveLength(0);
    });

    it("ends the calls that it has, and can still be told to stop them", async () => {
      const gate = { open: () => {} };
      const started: string[] = [];
      const first = new Server({ name: "first", version: "1" })
        .tool("slow", {}, async () => {
          started.push("slow");
          await new Promise<void>((resolve) => {
            gate.open = resolve;
          });
          return "first";
        })
        .tool("stoppable", {}, async (_args, ctx) => {
          started.push("stoppable");
          await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
          started.push("stopped");
          return "";
        });
      const { registry, client } = await bound(revision, first as Server);
      const stop = new AbortController();
      const slow = client.callTool("slow");
      const stoppable = client.callTool("stoppable", {}, { signal: stop.signal }).catch((error) => error.kind);
      await waitUntil(() => started.length === 2);
      expect(registry.list()[0]?.running).toBe(2);
      let idle = false;
      const replaced = registry.replace("a", namedServer("second")).then(() => {
        idle = true;
      });
      expect(await who(client)).toBe("second");
      stop.abort();
      expect(await stoppable).toBe("cancelled");
      await waitUntil(() => started.includes("stopped"));
      expect(idle).toBe(false);
      gate.open();
      expect(textOf(await slow)).toBe("first");
      await replaced;
    });

    it("may go away and come back", async () => {
      const { registry, client } = await bound(revision);
      registry.unregister("a");
      await expect(who(client)).rejects.toMatchObject({ message: 'no server is registered as "a" at the moment' });
      registry.register("a", namedServer("again"));
      expect(await who(client)).toBe("again");
    });

    it("lets a binding follow another name, and none", async () => {
      const { registry, binding, client } = await bound(revision);
      registry.register("b", namedServer("second"));
      await binding.rebind("b");
      expect(binding.name).toBe("b");
      expect(await who(client)).toBe("second");
      await registry.replace("a", namedServer("third"));
      expect(await who(client)).toBe("second");
      await expect(binding.rebind("nobody")).rejects.toThrow("no server is registered");
      expect(await who(client)).toBe("second");
      binding.unbind();
      await expect(who(client)).rejects.toThrow("no server is registered");
      expect(registry.list().map(({ peers }) => peers)).toEqual([0, 0]);
    });

    it("loses, repeats and reorders nothing while it is replaced again and again", async () => {
      const counted: number[] = [];
      const counting = () =>
        new Server({ name: "counting", version: "1" }).tool(
          "count",
          { input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } },
          async ({ n }) => {
            counted.push(n);
            if (n % 3 === 0) await undefined;
            return String(n);
          },
        ) as unknown as Server;
      const { registry, client } = await bound(revision, counting());
      const answers: Promise<string | undefined>[] = [];
      for (let n = 0; n < 1000; n++) {
        answers.push(client.callTool("count", { n }).then(textOf));
        if (n % 50 === 0) void registry.replace("a", counting());
        if (n % 7 === 0) await undefined;
      }
      const numbers = Array.from({ length: 1000 }, (_, n) => n);
      expect(await Promise.all(answers)).toEqual(numbers.map(String));
      expect(counted).toEqual(numbers);
    });
  },
);

describe("a server that is replaced", () => {
  it("announces only what its clients were told that it announces", async () => {
    const quiet = new Server({ name: "quiet", version: "1" }, { listChanged: false }).tool("who", {}, () => "quiet");
    const { registry, client } = await bound("2025-11-25", quiet as Server);
    const heard: string[] = [];
    client.on("notification", ({ method }) => void heard.push(method));
    await registry.replace("a", namedServer("loud"));
    expect(await who(client)).toBe("loud");
    expect(heard).toEqual([]);
  });

  it("ends sessions whose revision its successor does not speak, so that they begin anew", async () => {
    const registry = new ServerRegistry();
    registry.register("a", namedServer("first"));
    const client = await connect(registry.bind("a"), { revisions: ["2025-06-18", "2025-11-25"] });
    clients.push(client);
    expect(client.protocolVersion).toBe("2025-11-25");
    const older = new Server({ name: "older", version: "1" }, { revisions: ["2025-06-18"] });
    older.tool("who", {}, () => "older");
    await registry.replace("a", older);
    await waitUntil(async () => (await who(client).catch(() => "")) === "older");
    expect(client.protocolVersion).toBe("2025-06-18");
  });

  it("makes objects for the sessions that come to it", async () => {
    class Counter {
      #count = 0;
      listTools() {
        return [{ name: "who", inputSchema: { type: "object" as const } }];
      }
      callTool() {
        this.#count++;
        return `count ${this.#count}`;
      }
    }
    const { registry, client } = await bound("2025-11-25");
    await registry.replace("a", Server.from(Counter, { name: "c", version: "1" }, { perSession: true }));
    expect([await who(client), await who(client)]).toEqual(["count 1", "count 2"]);
  });
});
