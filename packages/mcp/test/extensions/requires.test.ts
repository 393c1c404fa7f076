import { connect, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { Host } from "@parley/mcp/host";
import { serveHttp } from "@parley/mcp/node";
import { describe, expect, it } from "vitest";
import { NEWEST_STATEFUL, NEWEST_STATELESS } from "../../src/protocol/revisions.js";

const INFO = { name: "s", version: "1" };

describe("an extension that requires others", () => {
  const named = (name: string, requires?: string[]) =>
    defineExtension({ id: `com.example/${name}`, settings: {}, ...(requires === undefined ? {} : { requires }) });
  const search = named("search", ["com.example/index", "com.example/words"]);

  it("is refused by the names of what is missing, at servers and clients", async () => {
    const missing = {
      kind: "invalid_definition",
      message: "the extension com.example/search requires com.example/index and com.example/words",
      data: { extension: "com.example/search", missing: ["com.example/index", "com.example/words"] },
    };
    expect(() => new Server(INFO, { extensions: [search] })).toThrow(expect.objectContaining(missing));
    const server = new Server(INFO).tool("t", {}, () => "");
    await expect(connect(server, { extensions: [search] })).rejects.toMatchObject(missing);
    expect(() => new Server(INFO, { extensions: [search, named("index")] })).toThrow(/requires com.example\/words$/);
  });

  it("is accepted in any order, and the given order stays", async () => {
    const order: string[] = [];
    const around = (name: string, requires: string[]) =>
      defineExtension({
        id: `com.example/${name}`,
        settings: {},
        requires,
        server: () => ({
          around: {
            "tools/call": (_call, next) => {
              order.push(name);
              return next();
            },
          },
        }),
      });
    const extensions = [around("outer", ["com.example/inner"]), around("inner", ["com.example/outer"])];
    const server = new Server(INFO, { extensions }).tool("t", {}, () => "done");
    await using client = await connect(server, { extensions: [named("words"), search, named("index")] });
    expect(await client.call("t")).toBe("done");
    expect(order).toEqual(["outer", "inner"]);
  });

  it("is refused twice, also where it adds nothing", () => {
    expect(() => new Server(INFO, { extensions: [named("x"), named("x")] })).toThrow(/com.example\/x was given twice/);
  });

  it.each(["shared", "client"] as const)(
    "is left out behind a gateway for a client that declares it alone, with isolation %s",
    async (isolation) => {
      const chain = [named("a"), named("b", ["com.example/a"]), named("c", ["com.example/b"]), named("d")];
      const inner = new Server(INFO, { extensions: chain }).tool("t", {}, (_args, ctx) =>
        Object.keys(ctx.client.capabilities.extensions ?? {}).join(),
      );
      await using http = await serveHttp(inner, { port: 0 });
      for (const revision of [NEWEST_STATEFUL, NEWEST_STATELESS]) {
        await using host = new Host({
          servers: { s: { url: String(http.url), isolation } },
          client: { revisions: [revision], extensions: chain },
        });
        const front = host.asServer();
        await host.start();
        await using client = await connect(front, { extensions: [named("c"), named("b"), named("d")] });
        expect((await client.callTool("s__t")).content).toEqual([{ type: "text", text: "com.example/d" }]);
        await using whole = await connect(front, { extensions: chain });
        const all = "com.example/a,com.example/b,com.example/c,com.example/d";
        expect((await whole.callTool("s__t")).content).toEqual([{ type: "text", text: all }]);
      }
    },
  );
});
