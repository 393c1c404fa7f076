import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Drive, itemsOf, type Reply, textOf } from "../../../test/server/drive.js";
import { httpFacts } from "../../../test/server/http-facts.js";
import type { Principal } from "../../http/authentication.js";
import { tool } from "../contract/tool.js";
import { Server } from "../server.js";
import { toolNameProblem } from "../tools/ready-tool.js";

const info = { name: "s", version: "1" };
const admin: Principal = { key: "admin", scopes: ["read", "write"] };
const user: Principal = { key: "user", scopes: ["read"] };
const isAdmin = ({ auth }: { auth: Principal | undefined }) => auth?.key === "admin";

describe("what a tool says of itself", () => {
  it("reaches clients as it was written, and nothing of how its calls are treated (TOOL-04)", async () => {
    const server = new Server(info).tool(
      "full",
      {
        title: "Full",
        description: "All members",
        input: z.object({ a: z.string() }),
        output: z.object({ b: z.number() }),
        annotations: { readOnlyHint: true, openWorldHint: false },
        icons: [{ src: "https://example.com/i.png", mimeType: "image/png", sizes: ["48x48"] }],
        _meta: { "com.example/cost": 3 },
        timeoutMs: 1000,
        concurrency: 3,
        maxResultBytes: 10_000,
        coerce: false,
        scopes: ["read"],
        requires: ["sampling"],
        visibleTo: () => true,
      },
      () => ({ b: 1 }),
    );
    const [only] = itemsOf(await new Drive(server).send("tools/list"), "tools");
    expect(Object.keys(only ?? {})).toEqual([
      "name",
      "title",
      "description",
      "inputSchema",
      "outputSchema",
      "annotations",
      "icons",
      "_meta",
    ]);
    expect(only).toMatchObject({ annotations: { readOnlyHint: true }, _meta: { "com.example/cost": 3 } });
  });

  it("without a name, or with `null` for a schema, are refused", () => {
    const server = new Server({ name: "s", version: "1" });
    const nothing = null as never;
    expect(() => server.tool("", {}, () => "")).toThrow("the name or URI of a tool must not be empty");
    expect(() => server.prompt("", {}, () => "")).toThrow("the name or URI of a prompt must not be empty");
    expect(() => server.tool("t", { input: nothing }, () => "")).toThrow('tool "t" input must be a JSON Schema object');
    expect(() => server.tool("t", { output: nothing }, () => "")).toThrow(
      'tool "t" output must be a JSON Schema object',
    );
    expect(() => server.tool("t", nothing, () => "")).toThrow('the options of tool "t" are null, not an object');
  });

  it("warns about names that some clients refuse, and takes them (TOOL-06)", async () => {
    const warnings: string[] = [];
    const server = new Server(info, { platform: { warn: (line) => void warnings.push(line) } });
    server.tool("fine_name-1.x", {}, () => "").tool("my tool", {}, () => "yes");
    expect(warnings).toEqual([expect.stringContaining('the name of tool "my tool" has characters other than')]);
    expect(textOf(await new Drive(server).call("my tool"))).toBe("yes");
    for (const name of ["", "a,b", "ü", "x".repeat(129), "a/b"]) expect(toolNameProblem(name)).toBeTypeOf("string");
    for (const name of ["a", "A.b_c-9", "x".repeat(128)]) expect(toolNameProblem(name)).toBeUndefined();
  });

  it("is listed in the order of registration, byte for byte the same every time (TOOL-03)", async () => {
    const server = new Server(info);
    for (const name of ["b", "a", "10", "2"]) server.tool(name, {}, () => "");
    const drive = new Drive(server);
    const first = await drive.send("tools/list");
    const second = await drive.send("tools/list");
    expect(itemsOf<{ name: string }>(first, "tools").map(({ name }) => name)).toEqual(["b", "a", "10", "2"]);
    expect(second.answer.text.replace('"id":2', '"id":1')).toBe(first.answer.text);
  });

  it("is refused at registration, naming the tool, when it cannot be used", () => {
    const server = new Server(info).tool("taken", {}, () => "");
    expect(() => server.tool("taken", {}, () => "")).toThrow(/"taken" exists already/);
    expect(() => server.tool("n", { input: { type: "array" } as never }, () => "")).toThrow(
      /"n" must have type "object"/,
    );
    expect(() => server.tool("n", { input: z.object({ d: z.date() }) }, () => "")).toThrow(/"n"/);
    expect(() => server.tool("n", { input: { type: "object", required: 5 as never } }, () => "")).toThrow(/"n"/);
    expect(() => server.tool("n", { maxResultBytes: 10 }, () => "")).toThrow(/maxResultBytes/);
    expect(() => server.tool("n", { concurrency: 0 }, () => "")).toThrow(/concurrency/);
  });
});

describe("a tool for some callers only (TOOL-02)", () => {
  const server = new Server(info, { cache: { ttlMs: 60_000, scope: "public" } })
    .tool("everyone", {}, () => "ok")
    .tool("admins", { visibleTo: isAdmin }, () => "secret");
  const names = (reply: Reply) => itemsOf<{ name: string }>(reply, "tools").map(({ name }) => name);

  it("is in the list of those callers only, which nobody else may keep", async () => {
    const seen = await new Drive(server, { principal: admin }).send("tools/list");
    expect(names(seen)).toEqual(["everyone", "admins"]);
    expect(seen.result).toMatchObject({ ttlMs: 60_000, cacheScope: "private" });
    for (const principal of [user, undefined]) {
      const reply = await new Drive(server, principal === undefined ? {} : { principal }).send("tools/list");
      expect(names(reply)).toEqual(["everyone"]);
      expect(reply.result?.["cacheScope"]).toBe("private");
    }
  });

  it("is unknown to all others, word for word (TOOL-15)", async () => {
    const hidden = await new Drive(server, { principal: user }).call("admins");
    const absent = await new Drive(server, { principal: user }).call("nobody");
    expect(hidden.error).toMatchObject({ code: -32602, message: "unknown tool: admins" });
    expect(absent.error).toMatchObject({ code: -32602, message: "unknown tool: nobody" });
    expect(textOf(await new Drive(server, { principal: admin }).call("admins"))).toBe("secret");
  });

  it("leaves lists public where every caller sees the same", async () => {
    const open = new Server(info, { cache: { scope: "public" } }).tool("t", {}, () => "");
    expect((await new Drive(open).send("tools/list")).result?.["cacheScope"]).toBe("public");
  });

  it("is hidden when deciding about it fails", async () => {
    const warnings: string[] = [];
    const failing = new Server(info, { platform: { warn: (line) => void warnings.push(line) } }).tool(
      "t",
      {
        visibleTo: () => {
          throw new Error("no database");
        },
      },
      () => "",
    );
    expect((await new Drive(failing).call("t")).error?.code).toBe(-32602);
    expect(warnings[0]).toContain("no database");
  });

  it("is shared as text among callers who see the same, until the tools change", async () => {
    const one = await new Drive(server, { principal: user }).send("tools/list");
    const other = await new Drive(server, { principal: { key: "other" } }).send("tools/list");
    expect(other.answer.text).toBe(one.answer.text);
    server.add(tool("late", {}, () => ""));
    expect(names(await new Drive(server, { principal: user }).send("tools/list"))).toEqual(["everyone", "late"]);
    server.remove("tool", "late");
  });
});

describe("what a tool needs of its caller", () => {
  it("is checked before the handler runs: capabilities (MRTR-04)", async () => {
    let ran = 0;
    const server = new Server(info).tool("ask", { requires: ["elicitation.url", "sampling.tools"] }, () => {
      ran++;
      return "ok";
    });
    const modern = await new Drive(server, { capabilities: { elicitation: {}, sampling: {} } }).call("ask");
    expect(modern.error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} }, sampling: { tools: {} } } },
    });
    expect(modern.answer.status).toBe(400);
    const older = await new Drive(server, { revision: "2025-11-25" }).call("ask");
    expect(older.result?.isError).toBe(true);
    expect(ran).toBe(0);
    const able = { elicitation: { url: {} }, sampling: { tools: {} } };
    expect(textOf(await new Drive(server, { capabilities: able }).call("ask"))).toBe("ok");
    expect(textOf(await new Drive(server, { capabilities: able, revision: "2025-11-25" }).call("ask"))).toBe("ok");
  });

  it("is checked before the handler runs: scopes, which the transport learns (AUTHS-06)", async () => {
    const server = new Server(info).tool("write", { scopes: ["read", "write"] }, () => "written");
    const refused = await new Drive(server, { principal: user }).call("write");
    expect(refused.error?.data).toEqual({ scopes: ["read", "write"] });
    expect(refused.answer.scopes).toEqual(["read", "write"]);
    expect(textOf(await new Drive(server, { principal: admin }).call("write"))).toBe("written");
  });

  it("is not satisfied by the absence of authorization over HTTP; a pipe has none to check", async () => {
    const server = new Server(info).tool("write", { scopes: ["write"] }, () => "written");
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "write" };
    const http = httpFacts(headers);
    expect((await new Drive(server, { http }).call("write")).answer.scopes).toEqual(["write"]);
    expect(textOf(await new Drive(server).call("write"))).toBe("written");
  });
});

describe("schemas that would cost too much", () => {
  const nested = (levels: number): object =>
    levels === 0 ? { type: "number" } : { anyOf: Array(8).fill({ allOf: Array(8).fill(nested(levels - 1)) }) };

  it.each<[string, object]>([
    ["a pattern that explodes", { properties: { s: { type: "string", pattern: "^(a+)+$" } } }],
    ["references that fan out", fanOut(18)],
    ["nested alternatives", { properties: { s: nested(2) } }],
    ["a reference to itself", { properties: { s: { $ref: "#/properties/s" } } }],
    ["members of the prototype", { properties: { ["__proto__"]: { type: "string" }, s: {} } }],
  ])("%s: refused at registration, or judged while the server goes on", async (_what, members) => {
    const server = new Server(info).tool("good", {}, () => "fine");
    try {
      server.tool("bad", { input: { type: "object", ...members } }, () => "");
    } catch (error) {
      expect(String(error)).toContain('"bad"');
      return;
    }
    const drive = new Drive(server);
    await drive.call("bad", { s: `${"a".repeat(60)}!` });
    expect(textOf(await drive.call("good"))).toBe("fine");
  });

  it.each(["https://example.com/s.json", "file:///etc/passwd", "other.json"])("fetch nothing: %s", ($ref) => {
    expect(() => new Server(info).tool("bad", { input: { type: "object", $ref } }, () => "")).toThrow(/"bad"/);
  });
});

/** A schema whose evaluation doubles with each level. */
function fanOut(levels: number): object {
  const names = Array.from({ length: levels }, (_, level) => `l${level}`);
  const $defs = Object.fromEntries(
    names.map((name, level) => {
      const $ref = `#/$defs/l${level + 1}`;
      return [name, level === levels - 1 ? { type: "string" } : { allOf: [{ $ref }, { $ref }] }];
    }),
  );
  return { $defs, properties: { s: { $ref: "#/$defs/l0" } } };
}
