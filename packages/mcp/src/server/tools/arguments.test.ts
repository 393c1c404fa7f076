import { toJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, textOf } from "../../../test/server/drive.js";
import { Server } from "../server.js";

const filters = z.object({ filters: z.array(z.string()), limit: z.number().optional() });

function searcher(options = {}, definition = {}) {
  const server = new Server({ name: "s", version: "1" }, options);
  return server.tool("search", { input: filters, ...definition }, (args, ctx) => ({ args, coercions: ctx.coercions }));
}

async function seen(server: Server<never>, args: object) {
  return JSON.parse(textOf(await new Drive(server).call("search", args))) as { args: unknown; coercions: unknown };
}

describe("arguments that came as text", () => {
  it("become what the schema asks for, and the handler is told", async () => {
    const { args, coercions } = await seen(searcher() as never, { filters: '["a"]', limit: "5" });
    expect(args).toEqual({ filters: ["a"], limit: 5 });
    expect(coercions).toEqual([
      { path: "/filters", from: "string", to: "array" },
      { path: "/limit", from: "string", to: "number" },
    ]);
  });

  it("stay text where the schema takes text", async () => {
    const server = new Server({ name: "s", version: "1" }).tool(
      "search",
      { input: z.object({ q: z.string(), n: z.union([z.string(), z.number()]) }) },
      (args, ctx) => ({ args, coercions: ctx.coercions }),
    );
    expect(await seen(server as never, { q: "5", n: "6" })).toEqual({ args: { q: "5", n: "6" }, coercions: [] });
  });

  it("are refused when coercion is turned off, for a tool or for the server", async () => {
    for (const server of [searcher({}, { coerce: false }), searcher({ tools: { coerce: false } })]) {
      const reply = await new Drive(server).call("search", { filters: '["a"]' });
      expect(reply.result?.isError).toBe(true);
      expect(textOf(reply)).toContain('Invalid arguments for tool "search"');
    }
  });
});

describe("arguments that nobody reads", () => {
  it("are named with what was probably meant, although the schema's library would drop them", async () => {
    const reply = await new Drive(searcher()).call("search", { filters: [], limmit: 3 });
    expect(reply.result?.isError).toBe(true);
    expect(textOf(reply)).toBe(
      'Invalid arguments for tool "search": unknown argument "limmit" (did you mean "limit"?); it takes filters, limit',
    );
  });

  it("are named beside what is missing because of them (TOOL-16)", async () => {
    const text = textOf(await new Drive(searcher()).call("search", { filter: [] }));
    expect(text).toContain('unknown argument "filter" (did you mean "filters"?)');
    expect(text).toContain("/filters");
  });

  it("are admitted where the published schema admits them, unless they look like one that is absent", async () => {
    const json = {
      type: "object",
      properties: { filters: { type: "array" }, limit: { type: "number" }, by: { type: "string" } },
    } as const;
    for (const input of [filters.extend({ by: z.string().optional() }), json]) {
      const server = new Server({ name: "s", version: "1" }).tool("search", { input }, () => "ok");
      const drive = new Drive(server);
      // Some clients add members of their own; nearness to a present name and short names say nothing.
      for (const more of [{ _client: 1 }, { filterz: [] }, { bz: 1 }]) {
        expect(textOf(await drive.call("search", { filters: [], ...more }))).toBe("ok");
      }
      expect(textOf(await drive.call("search", { filters: [], limmit: 3 }))).toContain('did you mean "limit"?');
    }
  });

  it("are named inside objects and lists", async () => {
    const optional = z.string().optional();
    const input = z.object({
      who: z.object({ name: optional }),
      tags: z.array(z.object({ id: z.number(), code: optional })),
    });
    const server = new Server({ name: "s", version: "1" }).tool("search", { input }, () => "ok");
    const drive = new Drive(server);
    const reply = await drive.call("search", { who: { nmae: "b" }, tags: [{ id: 1 }, { id: 2, cdoe: "3" }] });
    expect(textOf(reply)).toContain('unknown argument "nmae" in /who');
    expect(textOf(reply)).toContain('unknown argument "cdoe" in /tags/1');
  });

  it("are left out on request", async () => {
    const { args } = await seen(searcher({}, { unknownArguments: "ignore" }) as never, { filters: [], limmit: 3 });
    expect(args).toEqual({ filters: [] });
    const open = { type: "object", properties: { limit: { type: "number" } } } as const;
    const passed = searcher({}, { input: open, unknownArguments: "ignore" }) as never;
    expect((await seen(passed, { limmit: 3 })).args).toEqual({ limmit: 3 });
    const none = new Server({ name: "s", version: "1" }, { tools: { unknownArguments: "ignore" } });
    const reply = await new Drive(none.tool("t", {}, () => "ok")).call("t", { random_string: "" });
    expect(textOf(reply)).toBe("ok");
  });

  it("are named for a closed JSON Schema, once", async () => {
    const input = { type: "object", properties: { city: { type: "string" } }, additionalProperties: false } as const;
    const server = new Server({ name: "s", version: "1" })
      .tool("t", { input }, () => "ok")
      .tool("none", {}, () => "ok");
    expect(textOf(await new Drive(server).call("t", { cty: "x" }))).toBe(
      'Invalid arguments for tool "t": unknown argument "cty" (did you mean "city"?); it takes city',
    );
    expect(textOf(await new Drive(server).call("none", { a: 1 }))).toContain("it takes no arguments");
  });

  it("reach the handler where the schema lets them through", async () => {
    const open = { type: "object", properties: { city: { type: "string" } } } as const;
    const schemas = [
      open,
      z.looseObject({ city: z.string() }),
      type({ city: "string" }),
      v.looseObject({ city: v.string() }),
    ];
    for (const input of schemas) {
      const server = new Server({ name: "s", version: "1" }, { toJsonSchema }).tool("search", { input }, (args) => ({
        args,
      }));
      expect((await seen(server as never, { city: "x", more: 1 })).args).toEqual({ city: "x", more: 1 });
    }
  });

  it("are refused as -32602 where the server wants protocol errors", async () => {
    const reply = await new Drive(searcher({ invalidArguments: "protocol" })).call("search", { filters: [], limt: 1 });
    expect(reply.error?.code).toBe(-32602);
    expect(reply.error?.data?.["issues"]).toEqual([{ path: "/limt", message: "is not known" }]);
  });
});

describe("names of the prototype", () => {
  it.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])("%s is plain data", async (name) => {
    const drive = new Drive(searcher());
    const args = JSON.parse(`{"filters":[],"${name}":{"polluted":true}}`) as object;
    expect(textOf(await drive.call("search", args))).not.toContain("polluted");
    const closed = new Server({ name: "s", version: "1" }).tool("search", { input: z.strictObject({}) }, () => "ok");
    expect(textOf(await new Drive(closed).call("search", args))).toContain(`unknown argument "${name}"`);
    expect((await drive.call(name)).error?.code).toBe(-32602);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    const open = new Server({ name: "s", version: "1" }).tool(name, { input: { type: "object" } }, (given) => given);
    expect(textOf(await new Drive(open).call(name, args))).toBe(JSON.stringify(args));
  });
});
