import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AskedQuestion, Drive, type DriveOptions, textOf } from "../../../test/server/drive.js";
import { McpError } from "../../protocol/error.js";
import type { ToolResultContent } from "../../protocol/features/sampling.js";
import type { Revision } from "../../protocol/revisions.js";
import type { AnySchema } from "../../schema/standard.js";
import { urlRequired } from "../call/url-required.js";
import type { SampleRequest } from "../contract/context.js";
import { Server } from "../server.js";

const info = { name: "s", version: "1" };
const ABLE = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };
const ERAS: Revision[] = ["2025-11-25", "2026-07-28"];

function asking(schema: AnySchema) {
  return new Server(info).tool("ask", {}, async (_args, ctx) => JSON.stringify(await ctx.elicit("please", schema)));
}

async function answered(schema: AnySchema, content: object, options: DriveOptions = {}) {
  const drive = new Drive(asking(schema), {
    capabilities: options.revision === "2025-06-18" ? { elicitation: {} } : ABLE,
    answer: () => ({ action: "accept", content }),
    ...options,
  });
  const reply = await drive.call("ask");
  return { drive, reply, form: drive.asked[0]?.params?.["requestedSchema"] as Record<string, unknown> };
}

const everyShape = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", minLength: 1, maxLength: 50, default: "Ada" },
    mail: { type: "string", format: "email" },
    age: { type: "integer", minimum: 0, maximum: 150, default: 30 },
    score: { type: "number", default: 1.5 },
    agree: { type: "boolean", default: true },
    plain: { type: "string", enum: ["a", "b"], default: "a" },
    titled: {
      type: "string",
      oneOf: [
        { const: "x", title: "The X" },
        { const: "y", title: "The Y" },
      ],
      default: "x",
    },
    several: { type: "array", items: { type: "string", enum: ["r", "g", "b"] }, minItems: 1, default: ["r"] },
    titledSeveral: {
      type: "array",
      items: {
        anyOf: [
          { const: "1", title: "One" },
          { const: "2", title: "Two" },
        ],
      },
    },
  },
  required: ["name"],
} as const;
const fullAnswer = {
  name: "Bo",
  mail: "bo@example.com",
  age: 3,
  score: 2.5,
  agree: false,
  plain: "b",
  titled: "y",
  several: ["g", "b"],
  titledSeveral: ["2"],
};

describe("forms (ELIC-04, ELIC-05, ELIC-06)", () => {
  it.each(ERAS)("of every shape go out as written and come back checked in %s", async (revision) => {
    const { reply, form } = await answered(everyShape, fullAnswer, { revision });
    expect(form).toEqual(everyShape);
    expect(JSON.parse(textOf(reply))).toEqual(fullAnswer);
  });

  it("are what schema libraries mean, without the keywords that forms do not have", async () => {
    const schema = z.object({
      mail: z.email(),
      site: z.url().optional(),
      day: z.iso.date(),
      id: z.uuid(),
      count: z.int().positive(),
      ratio: z.number().min(0).max(1).default(0.5),
      size: z.enum(["s", "m"]).describe("How large"),
      colour: z.union([z.literal("r").meta({ title: "Red" }), z.literal("g").meta({ title: "Green" })]),
      tags: z
        .array(z.enum(["x", "y"]))
        .min(1)
        .max(2),
      only: z.literal("yes"),
    });
    const content = {
      mail: "a@b.example",
      day: "2026-11-15",
      id: "00000000-0000-4000-8000-000000000000",
      count: 1,
      size: "m",
      colour: "g",
      tags: ["x"],
      only: "yes",
    };
    const { form, reply } = await answered(schema, content);
    expect(form["properties"]).toEqual({
      mail: { type: "string", format: "email" },
      site: { type: "string", format: "uri" },
      day: { type: "string", format: "date" },
      id: { type: "string" },
      count: { type: "integer", minimum: 1 },
      ratio: { type: "number", default: 0.5, minimum: 0, maximum: 1 },
      size: { type: "string", description: "How large", enum: ["s", "m"] },
      colour: {
        type: "string",
        oneOf: [
          { const: "r", title: "Red" },
          { const: "g", title: "Green" },
        ],
      },
      tags: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["x", "y"] } },
      only: { type: "string", enum: ["yes"] },
    });
    expect(JSON.parse(textOf(reply))).toEqual({ ...content, ratio: 0.5 });
  });

  it("are said in the words of 2025-06-18: no mode, enumNames, only yes/no has a default, lists as text", async () => {
    const { titledSeveral: _t, several: _s, ...others } = fullAnswer;
    const content = { ...others, several: "g, b,", titledSeveral: "2" };
    const { drive, form, reply } = await answered(everyShape, content, { revision: "2025-06-18" });
    expect(drive.asked[0]?.params).not.toHaveProperty("mode");
    const fields = form["properties"] as Record<string, Record<string, unknown>>;
    expect(fields["titled"]).toEqual({ type: "string", enum: ["x", "y"], enumNames: ["The X", "The Y"] });
    expect(fields["several"]?.["description"]).toBe("Several of these, separated by commas: r, g, b");
    expect(Object.entries(fields).flatMap(([name, field]) => ("default" in field ? [name] : []))).toEqual(["agree"]);
    expect(JSON.parse(textOf(reply))).toEqual(fullAnswer);
    const untouched = await answered(everyShape, { name: "Bo" }, { revision: "2025-06-18" });
    expect(JSON.parse(textOf(untouched.reply))).toMatchObject({ age: 30, plain: "a", several: ["r"] });
  });

  it.each([
    ["a nested object", z.object({ a: z.object({ b: z.string() }) })],
    ["a list of free texts", z.object({ a: z.array(z.string()) })],
    ["a nullable field", z.object({ a: z.string().nullable() })],
    ["no object at all", z.string()],
  ])("refuse %s, and say so", async (_what, schema) => {
    const { reply } = await answered(schema as AnySchema, {});
    expect(JSON.stringify(reply)).toContain("a form cannot express");
  });

  it.each([...ERAS, "2025-06-18"] as Revision[])(
    "refuse answers that do not fit, in %s (ELIC-09)",
    async (revision) => {
      for (const content of [{ name: "a", mail: "nobody" }, { name: 5 }, { name: "" }]) {
        const { reply } = await answered(everyShape, content, { revision });
        expect(reply.error?.code).toBe(-32602);
        expect(reply.error?.data).toHaveProperty("requestedSchema");
      }
      const drive = new Drive(asking(everyShape), {
        revision,
        capabilities: { elicitation: {} },
        answer: () => ({ yes: 1 }),
      });
      expect((await drive.call("ask")).error?.code).toBe(-32602);
    },
  );

  it("are never sent to clients of revisions without them, whatever these declare (ELIC-02)", async () => {
    for (const revision of ["2024-11-05", "2025-03-26"] as const) {
      const { reply, drive } = await answered(everyShape, fullAnswer, { revision });
      expect(reply.result?.isError).toBe(true);
      expect(textOf(reply)).toBe(`the revision ${revision} does not have "elicitation.form"`);
      expect(drive.asked).toEqual([]);
    }
  });
});

describe("pages to visit", () => {
  const visitor = new Server(info).tool("visit", {}, async (_args, ctx) => {
    await ctx.elicitUrl("Sign in", "https://example.com/in", { elicitationId: "e1" });
    ctx.elicitationComplete("e1");
    return "visited";
  });
  const consent = () => ({ action: "accept" });

  it("are named by an id in 2025-11-25 only, where their end is announced (ELIC-11, ELIC-13)", async () => {
    const older = new Drive(visitor, { revision: "2025-11-25", capabilities: ABLE, answer: consent });
    expect(textOf(await older.call("visit"))).toBe("visited");
    const asked = { mode: "url", message: "Sign in", url: "https://example.com/in" };
    expect(older.asked[0]?.params).toEqual({ ...asked, elicitationId: "e1" });
    expect(older.said).toEqual([
      { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId: "e1" } },
    ]);
    const newer = new Drive(visitor, { capabilities: ABLE, answer: consent });
    expect(textOf(await newer.call("visit"))).toBe("visited");
    expect(newer.asked[0]?.params).toEqual(asked);
    expect(newer.said).toEqual([]);
  });

  it("are not asked of clients that only know forms (ELIC-02, MRTR-04)", async () => {
    const newer = await new Drive(visitor, { capabilities: { elicitation: {} } }).call("visit");
    expect(newer.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { url: {} } } } });
    const first = new Drive(visitor, { revision: "2025-06-18", capabilities: ABLE, answer: consent });
    expect(textOf(await first.call("visit"))).toBe('the revision 2025-06-18 does not have "elicitation.url"');
    expect(first.asked).toEqual([]);
  });

  it("may be required by an error, told in the way of each revision (ELIC-14)", async () => {
    let signedIn = false;
    const thrower = new Server(info)
      .tool("t", {}, () => {
        if (!signedIn) throw urlRequired([{ message: "Sign in", url: "https://example.com/in" }]);
        return "welcome";
      })
      .resource("a://b", {}, async () => {
        throw urlRequired([{ message: "Sign in", url: "https://example.com/in", elicitationId: "mine" }]);
      });
    const older = new Drive(thrower, { revision: "2025-11-25", capabilities: ABLE });
    expect((await older.call("t")).error).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: "url", url: "https://example.com/in", elicitationId: expect.any(String) }] },
    });
    expect((await older.send("resources/read", { uri: "a://b" })).error?.data).toMatchObject({
      elicitations: [{ elicitationId: "mine" }],
    });
    const words = await new Drive(thrower, { revision: "2025-06-18", capabilities: { elicitation: {} } }).call("t");
    expect(words.result?.isError).toBe(true);
    expect(textOf(words)).toContain("https://example.com/in");
    const newer = new Drive(thrower, {
      capabilities: ABLE,
      answer: () => {
        signedIn = newer.asked.length === 2;
        return { action: "accept" };
      },
    });
    expect(textOf(await newer.call("t"))).toBe("welcome");
    expect(newer.asked).toHaveLength(2);
    const interim = await new Drive(thrower, { capabilities: ABLE }).send("resources/read", { uri: "a://b" });
    expect(interim.result?.["resultType"]).toBe("input_required");
  });

  it("that the user refuses to visit end the call, and the model is told", async () => {
    const server = new Server(info).tool("t", {}, () => {
      throw urlRequired([{ message: "Sign in", url: "https://example.com/in" }]);
    });
    const drive = new Drive(server, { capabilities: ABLE, answer: () => ({ action: "decline" }) });
    expect((await drive.call("t")).result?.isError).toBe(true);
    const bare = new Server(info).tool("t", {}, () => {
      throw new McpError("url_elicitation_required", "nothing to open");
    });
    expect((await new Drive(bare, { capabilities: ABLE }).call("t")).error?.code).toBe(-32603);
  });
});

describe("questions to the model", () => {
  const sampler = (request: Partial<SampleRequest>) =>
    new Server(info).tool("t", {}, async (_args, ctx) => {
      const { content } = await ctx.sample({ messages: [], maxTokens: 10, ...request });
      return JSON.stringify(content);
    });
  const model = (question: AskedQuestion) => ({
    role: "assistant",
    model: "m",
    content: { type: "text", text: String(Object(question.params?.["messages"]).length) },
  });
  const use = { type: "tool_use", id: "u1", name: "calc", input: {} } as const;
  const used: ToolResultContent = { type: "tool_result", toolUseId: "u1", content: [] };
  const say = { type: "text", text: "hi" } as const;

  it("need `sampling.tools` for tools and `sampling.context` for context (SAMP-02, SAMP-03)", async () => {
    const lacking: [Partial<SampleRequest>, object][] = [
      [{ tools: [] }, { sampling: { tools: {} } }],
      [{ toolChoice: { mode: "auto" } }, { sampling: { tools: {} } }],
      [{ includeContext: "thisServer" }, { sampling: { context: {} } }],
    ];
    for (const [request, required] of lacking) {
      const reply = await new Drive(sampler(request), { capabilities: { sampling: {} } }).call("t");
      expect(reply.error).toMatchObject({ code: -32021, data: { requiredCapabilities: required } });
      const able = new Drive(sampler(request), { capabilities: ABLE, answer: model });
      expect((await able.call("t")).result?.isError).toBeUndefined();
    }
    const none = new Drive(sampler({ includeContext: "none" }), { capabilities: { sampling: {} }, answer: model });
    expect((await none.call("t")).error).toBeUndefined();
  });

  it.each<[string, SampleRequest["messages"]]>([
    [
      "results of tools beside other blocks (SAMP-08)",
      [
        { role: "assistant", content: use },
        { role: "user", content: [used, say] },
      ],
    ],
    [
      "results of tools from the assistant",
      [
        { role: "assistant", content: use },
        { role: "assistant", content: used },
      ],
    ],
    [
      "a use without its result (SAMP-09)",
      [
        { role: "assistant", content: use },
        { role: "user", content: say },
      ],
    ],
    ["a use at the end", [{ role: "assistant", content: use }]],
    ["a result that nobody asked for", [{ role: "user", content: used }]],
  ])("are refused for %s", async (_what, messages) => {
    const drive = new Drive(sampler({ messages }), { capabilities: ABLE, answer: model });
    const reply = await drive.call("t");
    expect(reply.error?.code).toBe(-32603);
    expect(drive.asked).toEqual([]);
  });

  it("carry a loop of tools, and reach older clients block by block (SAMP-07)", async () => {
    const messages: SampleRequest["messages"] = [
      { role: "user", content: [say, say] },
      { role: "assistant", content: [use] },
      { role: "user", content: [used] },
    ];
    const newest = new Drive(sampler({ messages }), { capabilities: ABLE, answer: model });
    expect(textOf(await newest.call("t"))).toContain('"text":"3"');
    const older = new Drive(sampler({ messages: messages.slice(0, 1) }), {
      revision: "2025-06-18",
      capabilities: { sampling: {} },
      answer: model,
    });
    expect(textOf(await older.call("t"))).toContain('"text":"2"');
  });

  it("are refused a malformed answer (SAMP-06)", async () => {
    for (const answer of [{}, { role: "assistant" }, { role: "x", content: say, model: "m" }]) {
      const drive = new Drive(sampler({}), { capabilities: ABLE, answer: () => answer });
      expect((await drive.call("t")).error?.code).toBe(-32602);
    }
  });
});

describe("roots and traces", () => {
  it("are read in both eras, unusable ones left out (ROOT-02)", async () => {
    const server = new Server(info).tool("t", {}, async (_args, ctx) => JSON.stringify(await ctx.roots()));
    for (const revision of ERAS) {
      const answer = () => ({ roots: [{ uri: "file:///a", name: "A" }, { name: "no uri" }, 5] });
      const drive = new Drive(server, { revision, capabilities: ABLE, answer });
      expect(JSON.parse(textOf(await drive.call("t")))).toEqual([{ uri: "file:///a", name: "A" }]);
    }
  });

  it("go on into questions, and never change what a question is (OTEL-02)", async () => {
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const server = new Server(info).tool("t", {}, async (_args, ctx) => {
      await ctx.roots();
      return ctx.trace?.traceId ?? "none";
    });
    for (const revision of ERAS) {
      const meta = { traceparent, tracestate: "a=1" };
      const drive = new Drive(server, { revision, capabilities: ABLE, meta, answer: () => ({ roots: [] }) });
      expect(textOf(await drive.call("t"))).toBe("4bf92f3577b34da6a3ce929d0e0e4736");
      expect(drive.asked[0]?.params).toEqual({ _meta: meta });
      const odd = new Drive(server, {
        revision,
        capabilities: ABLE,
        meta: { traceparent: "nonsense" },
        answer: () => ({ roots: [] }),
      });
      expect(textOf(await odd.call("t"))).toBe("none");
      expect(odd.asked[0]?.params).toBeUndefined();
    }
  });
});
