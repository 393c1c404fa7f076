import { Server } from "@parley/mcp";
import { apps } from "@parley/mcp/apps";
import { skill, skills } from "@parley/mcp/skills";
import { tasks } from "@parley/mcp/tasks";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { server as everything } from "../../../../examples/everything/server.js";
import { greetsIn, type Heard, type Pipe, scriptedPipe } from "../../../mcp/test/client/scripted-pipe.js";
import { openRooms } from "../calls/opened-rooms.js";
import { ERAS } from "../engine/opened-engine.js";

const info = { name: "s", version: "1" };
const definition = (name: string, more: object = {}) => ({
  name,
  description: `Does what ${name} says, and nothing else`,
  inputSchema: { type: "object", properties: {} },
  ...more,
});

/** A server that lists tools as the script says, however wrong that is. */
function listing(page: (request: Heard, count: number) => object) {
  let count = 0;
  return scriptedPipe((message: Heard, pipe: Pipe) => {
    if (greetsIn("stateful", message, pipe)) return;
    if (message.method === "tools/list") pipe.answer(message, page(message, count++));
    else pipe.refuse(message, -32601);
  });
}

for (const revision of ERAS) {
  describe(`lists of a server, ${revision}`, () => {
    it("tell tools with what they do and what lint says", async () => {
      const { offers, connection } = await openRooms(everything, { revision, over: "http" });
      const { offers: tools, cut } = await offers.list(connection, "tools");
      expect(cut).toBe(false);
      expect(tools.length).toBeGreaterThan(15);
      expect(tools.find(({ name }) => name === "sum")).toMatchObject({
        title: "Sum",
        description: "Adds numbers",
        marks: ["read-only", "idempotent"],
      });
      const offer = await offers.offer(connection, "tools", "sum");
      expect(offer).toMatchObject({ kind: "tools", definition: { name: "sum", inputSchema: { type: "object" } } });
      const serious = offer.findings.filter(({ severity }) => severity !== "note");
      expect(tools.find(({ name }) => name === "sum")?.findings).toBe(serious.length);
    });

    it("tell resources, templates and prompts by what identifies them", async () => {
      const { offers, connection } = await openRooms(everything, { revision, over: "http" });
      const resources = await offers.list(connection, "resources");
      expect(resources.offers.find(({ name }) => name === "logo://small")).toMatchObject({
        marks: ["image/png", "4 bytes"],
        findings: 0,
      });
      const templates = await offers.list(connection, "templates");
      expect(templates.offers).toMatchObject([{ name: "note://{id}", title: "note", marks: ["text/plain"] }]);
      const prompts = await offers.list(connection, "prompts");
      expect(prompts.offers.find(({ name }) => name === "review")).toMatchObject({ marks: ["2 arguments"] });
      const detail = await offers.offer(connection, "prompts", "review");
      expect(detail).toMatchObject({ definition: { arguments: [{ name: "language", required: true }, {}] } });
      expect(detail.findings).toEqual([]);
    });
  });
}

describe("lists", () => {
  it("tell skills, and mark apps and tasks", async () => {
    const mail = skill({ name: "mail", description: "Writes mail", body: "Be short.", files: { "a.txt": "a" } });
    const live = skill({ name: "live", description: "Writes news", body: () => "Now." });
    const server = new Server(info, { extensions: [skills(mail, live), apps(), tasks()] })
      .tool("map", { ui: { uri: "ui://map", html: "<p>map</p>" } }, () => "x")
      .tool("slow", { task: "required", annotations: { destructiveHint: true, openWorldHint: true } }, () => "x");
    const { offers, connection } = await openRooms(server, { revision: "2025-11-25" });
    const { offers: listed } = await offers.list(connection, "skills");
    expect(listed).toMatchObject([
      { name: "skill://mail/SKILL.md", title: "mail", description: "Writes mail", marks: ["2 files", "54 bytes"] },
      { name: "skill://live/SKILL.md", title: "live", marks: ["dynamic"] },
    ]);
    const { offers: tools } = await offers.list(connection, "tools");
    expect(tools.map(({ name, marks }) => [name, ...marks])).toEqual([
      ["map", "app"],
      ["slow", "destructive", "open-world", "task"],
    ]);
  });

  it("are asked for once, until they change or are refreshed", async () => {
    const server = listing((_request, count) => ({ tools: [definition(`tool_${count}`)] }));
    const { offers, connection, listChanged } = await openRooms(server, { revision: "2025-11-25" });
    const names = async (refresh?: boolean) =>
      (await offers.list(connection, "tools", refresh)).offers.map(({ name }) => name);
    expect(await Promise.all([names(), names()])).toEqual([["tool_0"], ["tool_0"]]);
    expect((await offers.offer(connection, "tools", "tool_0")).definition["name"]).toBe("tool_0");
    expect(await names(true)).toEqual(["tool_1"]);
    expect(await names()).toEqual(["tool_1"]);
    listChanged("tools");
    expect(await names()).toEqual(["tool_2"]);
    expect(server.methods().filter((method) => method === "tools/list")).toHaveLength(3);
  });

  it("are refreshed also where the server lets them be kept", async () => {
    const server = new Server(info, { cache: { ttlMs: 60_000, scope: "public" } }).tool("first", {}, () => "x");
    const asked: unknown[] = [];
    server.use((request, next) => {
      asked.push(request.method);
      return next();
    });
    const { offers, connection } = await openRooms(server, { revision: "2026-07-28" });
    await offers.list(connection, "tools");
    await offers.list(connection, "tools", true);
    expect(asked.filter((method) => method === "tools/list")).toHaveLength(2);
  });

  it("are asked for again after a failure", async () => {
    let failing = true;
    const server = scriptedPipe((message, pipe) => {
      if (greetsIn("stateful", message, pipe)) return;
      if (failing) pipe.refuse(message, -32603, "not yet");
      else pipe.answer(message, { tools: [definition("late")] });
    });
    const { offers, connection } = await openRooms(server, { revision: "2025-11-25" });
    await expect(offers.list(connection, "tools")).rejects.toThrow("not yet");
    failing = false;
    expect((await offers.list(connection, "tools")).offers).toHaveLength(1);
  });

  it("refuse a name that is not listed, and name the nearest", async () => {
    const { offers, connection } = await openRooms(everything);
    await expect(offers.offer(connection, "tools", "summ")).rejects.toMatchObject({
      kind: "invalid_params",
      fix: expect.stringContaining('"sum"'),
    });
  });
});

describe("lists of a server that means no good", () => {
  it("are cut where they never end", async () => {
    const endless = listing((_request, count) => ({
      tools: Array.from({ length: 50 }, (_, index) => definition(`tool_${count}_${index}`)),
      nextCursor: `page ${count + 1}`,
    }));
    const { offers, connection } = await openRooms(endless, { revision: "2025-11-25" });
    const { offers: tools, cut } = await offers.list(connection, "tools");
    expect(cut).toBe(true);
    expect(tools).toHaveLength(20_000);
    expect(endless.heard().length).toBeLessThan(410);
  });

  it("are cut where the same page comes for ever", async () => {
    for (const again of [() => "same", (count: number) => `page ${count}`]) {
      const server = listing((_request, count) => ({ tools: [definition("one")], nextCursor: again(count) }));
      const { offers, connection } = await openRooms(server, { revision: "2025-11-25" });
      const list = await offers.list(connection, "tools");
      expect(list).toMatchObject({ cut: true, offers: [{ name: "one", marks: ["listed more than once"] }] });
    }
  });

  it("are cut where they are too large", async () => {
    const large = { description: "y".repeat(1000) };
    const server = listing(() => ({ tools: Array.from({ length: 100 }, (_, n) => definition(`tool_${n}`, large)) }));
    const listLimits = { bytes: 50_000 };
    const { offers, connection } = await openRooms(server, { revision: "2025-11-25", listLimits });
    const { offers: tools, cut } = await offers.list(connection, "tools");
    expect(cut).toBe(true);
    expect(tools.length).toBeGreaterThan(30);
    expect(tools.length).toBeLessThan(50);
  });

  it("show long texts in short, and wrong ones not at all", async () => {
    const odd = {
      title: "<script>".repeat(10_000),
      description: "z".repeat(100_000),
      annotations: { readOnlyHint: "yes", title: 5 },
      execution: { taskSupport: 7 },
      _meta: { ui: { resourceUri: 9 } },
    };
    const server = listing(() => ({ tools: [definition("odd", odd)] }));
    const { offers, connection } = await openRooms(server, { revision: "2025-11-25" });
    const list = await offers.list(connection, "tools");
    expect(JSON.stringify(list).length).toBeLessThan(1000);
    expect(list.offers).toMatchObject([{ name: "odd", marks: [] }]);
  });

  it("are shown also where schemas are none", async () => {
    let deep: object = { type: "string" };
    for (let level = 0; level < 50; level++) deep = { properties: { a: deep } };
    const schemas = [deep, { properties: { a: null, b: 5, c: [] }, required: 7 }, { $ref: "#", allOf: {} }];
    const tools = schemas.map((schema, index) =>
      definition(`odd_${index}`, { inputSchema: { type: "object", ...schema }, outputSchema: schema }),
    );
    const { offers, connection } = await openRooms(
      listing(() => ({ tools })),
      { revision: "2025-11-25" },
    );
    const list = await offers.list(connection, "tools");
    expect(list.offers.map(({ name }) => name)).toEqual(["odd_0", "odd_1", "odd_2"]);
    for (const { name } of list.offers) {
      expect((await offers.offer(connection, "tools", name)).definition).toHaveProperty("inputSchema");
    }
  });

  it("may have ten thousand tools, whose findings are looked for one by one", async () => {
    const { offers, connection } = await openRooms(
      listing(() => ({
        tools: Array.from({ length: 10_000 }, (_, n) => definition(`tool ${n}`, { description: undefined })),
      })),
      { revision: "2025-11-25" },
    );
    const { offers: tools, cut } = await offers.list(connection, "tools");
    expect(cut).toBe(false);
    expect(tools).toHaveLength(10_000);
    expect(tools.every(({ findings }) => findings === 0)).toBe(true);
    const { findings } = await offers.offer(connection, "tools", "tool 9999");
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every(({ tool }) => tool === "tool 9999")).toBe(true);
  });

  it("count what lint found in shorter lists", async () => {
    const server = new Server(info).tool("x", { input: z.object({ a: z.string() }) }, () => "x");
    const { offers, connection } = await openRooms(server);
    const { offers: tools } = await offers.list(connection, "tools");
    expect(tools[0]?.findings).toBeGreaterThan(0);
  });
});
