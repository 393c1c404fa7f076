import { connect, Server } from "@parley/mcp";
import { defineExtension } from "@parley/mcp/extension";
import { describe, expect, it } from "vitest";

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
});
