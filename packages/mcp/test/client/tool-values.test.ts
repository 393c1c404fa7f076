import { connect, content, Server } from "@parley/mcp";
import { toolMode } from "@parley/mcp/protocol";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { REVISIONS } from "../../src/protocol/revisions.js";
import { greetsIn, scriptedPipe } from "./scripted-pipe.js";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const links = [content.link("file:///a", { name: "a" }), content.link("file:///b", { name: "b" })];
const values = new Server({ name: "values", version: "1" })
  .tool("object", { output: z.object({ t: z.number() }) }, () => ({ t: 1 }))
  .tool("list", { output: z.array(z.string()) }, () => ["a", "b"])
  .tool("text", { output: z.string() }, () => "7")
  .tool("nothing", { output: z.null() }, () => null)
  .tool("both", { output: z.object({ hits: z.number() }) }, () =>
    content.result({ content: [content.text("2 hits")], structured: { hits: 2 } }),
  )
  .tool("plain", {}, () => '{"t":1}')
  .tool("linked", {}, () => [content.text("2 hits"), ...links])
  .tool("failing", { output: z.object({ t: z.number() }) }, () =>
    content.result<{ t: number }>({ content: [content.text("no")], isError: true }),
  );

describe.each(REVISIONS)("the value of a call in %s", (revision) => {
  async function client(warnings: string[] = []) {
    const one = await connect(values, { revisions: [revision], onWarning: (message) => warnings.push(message) });
    open.push(one);
    return one;
  }

  it("TOOL-12: is what the tool's output type promises, whether or not the revision has structured content", async () => {
    const one = await client();
    for (let round = 0; round < 2; round++) {
      expect(await one.call("object")).toEqual({ t: 1 });
      expect(await one.call("list")).toEqual(["a", "b"]);
      expect(await one.call("text")).toBe("7");
      expect(await one.call("nothing")).toBeNull();
      expect(await one.call("both")).toEqual({ hits: 2 });
      await expect(one.call("failing")).rejects.toMatchObject({ kind: "tool_error", message: "no" });
      // Again with what the list says about the tools.
      await one.allTools();
    }
  });

  it("is the text of a tool without an output type, even if that looks like JSON", async () => {
    expect(await (await client()).call("plain")).toBe('{"t":1}');
  });

  it("names once what it left out", async () => {
    const warnings: string[] = [];
    const one = await client(warnings);
    const linked = revision < "2025-06-18" ? "2 hits\n[a](file:///a)\n[b](file:///b)" : "2 hits";
    for (let round = 0; round < 3; round++) expect(await one.call("linked")).toBe(linked);
    const expected = '`call` returns only the text of the result of tool "linked", without 2 × resource_link';
    expect(warnings).toEqual(revision < "2025-06-18" ? [] : [expect.stringContaining(expected)]);
    expect((await one.callTool("linked")).content).toHaveLength(3);
  });
});

describe("results of other servers", () => {
  async function answering(result: object | null, options: Parameters<typeof connect>[1] = {}) {
    const warnings: string[] = [];
    const server = scriptedPipe((message, pipe) => {
      if (!greetsIn("stateful", message, pipe)) pipe.answer(message, result);
    });
    const client = await connect(server, { onWarning: (message) => warnings.push(message), ...options });
    open.push(client);
    return { client, warnings };
  }

  it("null is taken for a result without members, and for no other (C05)", async () => {
    const { client } = await answering(null);
    await client.ping();
    await client.setLogLevel("info");
    const changes = await client.subscribe("a://b");
    await changes.close();
    await expect(client.callTool("x")).rejects.toMatchObject({ kind: "invalid_response" });
    await expect(client.listPrompts()).rejects.toMatchObject({ kind: "invalid_response" });
  });

  it.each([
    [{ mode: "stateless" }, "stateless"],
    [{ _meta: { mode: "stateless" } }, "stateless"],
    [{ mode: "stateless", _meta: { "dev.parley/mode": "stateful" } }, "stateful"],
    [{ mode: "stateful" }, "stateful"],
    [{ mode: 1 }, "stateful"],
    [{}, "stateful"],
  ])("the mode of a tool is read where a server writes it: %j (E06)", async (members, mode) => {
    const { client } = await answering({ tools: [{ name: "t", inputSchema: { type: "object" }, ...members }] });
    const [tool] = await client.allTools();
    expect(tool && toolMode(tool)).toBe(mode);
    expect(client.sessionMode).toBe(mode === "stateless" ? "optional" : "required");
  });

  it("a mark for text that is not JSON fails as invalid_response", async () => {
    for (const at of [0, 1, -1, "0"]) {
      const { client } = await answering(
        { content: [{ type: "text", text: "no JSON" }], _meta: { "dev.parley/structured": at } },
        { revisions: ["2025-03-26"] },
      );
      await expect(client.call("x")).rejects.toMatchObject({
        kind: "invalid_response",
        message: expect.stringContaining('the result of tool "x"'),
      });
    }
  });

  it("content of an unknown type is kept for the application, with a warning; strict refuses it", async () => {
    const video = { type: "video", data: "AAAA", mimeType: "video/mp4" };
    const blocks = [{ type: "text", text: "a" }, video, { type: "image" }, { data: "" }, 7];
    const { client, warnings } = await answering({ content: blocks });
    expect((await client.callTool("x")).content).toEqual([{ type: "text", text: "a" }, video]);
    expect(warnings).toEqual([
      expect.stringContaining('content[1] has the unknown type "video"'),
      expect.stringContaining("content[2] is not a content block; ignored"),
      expect.stringContaining("content[3]"),
      expect.stringContaining("content[4]"),
    ]);
    expect(await client.call("x")).toBe("a");
    const strict = await answering({ content: [video] }, { strict: true });
    await expect(strict.client.callTool("x")).rejects.toMatchObject({ kind: "invalid_response" });
    const prompt = await answering({ messages: [{ role: "user", content: video }] });
    expect((await prompt.client.getPrompt("x")).messages).toEqual([{ role: "user", content: video }]);
    expect(prompt.warnings).toHaveLength(1);
  });
});
