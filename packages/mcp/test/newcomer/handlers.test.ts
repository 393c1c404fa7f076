import { connect, type HandlerContext, type Revision, Server } from "@parley/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { errorOf, loosely } from "./told.js";

const ERAS: Revision[] = ["2025-11-25", "2026-07-28"];
const PLAIN_DATA =
  "Return plain data: an object or a list in place of a Map or Set, `null` for nothing, a string for a BigInt, a block of `content` for bytes.";
const LOOK = "Look at `cause` and at the server's log; its handler failed or returned an invalid result.";

/** A client of a server with one tool, and what the server printed. */
async function served(
  handler: (args: unknown, ctx: HandlerContext) => unknown,
  revision: Revision,
  output?: z.ZodType,
) {
  const lines: string[] = [];
  const options = { platform: { warn: (line: string) => void lines.push(line) } };
  const server = new Server({ name: "shop", version: "1" }, options)
    .tool("buy", output === undefined ? {} : { output }, loosely(handler))
    .prompt("sum", {}, loosely(handler));
  const client = await connect(server as Server, {
    revisions: [revision],
    onElicit: () => ({ action: "accept", content: { yes: true } }),
    onSample: () => ({ role: "assistant", content: { type: "text", text: "yes" }, model: "m" }),
  });
  return { client, lines };
}

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;

/** What JSON cannot hold, and how the message names it. */
const LOST: [what: string, value: unknown, named: string][] = [
  ["a BigInt", 10n, "a value of type bigint"],
  ["a BigInt inside", { price: { cents: 10n } }, "a value of type bigint at /price/cents"],
  ["a cycle", cycle, "a cycle at /self"],
  ["a Map", new Map([["a", 1]]), "a value of type Map"],
  ["a Map inside", { items: [new Map()] }, "a value of type Map at /items/0"],
  ["a Set", new Set([1]), "a value of type Set"],
  ["NaN", { price: Number.NaN }, "NaN at /price"],
  ["an invalid Date", { at: new Date("soon") }, "an invalid Date at /at"],
  ["a function", { run: () => 1 }, "a value of type function at /run"],
  ["a symbol", Symbol("x"), "a value of type symbol"],
  ["an error", new Error("x"), "a value of type Error"],
  ["a response", new Response("x"), "a value of type Response"],
  ["bytes", new Uint8Array(3), "a value of type Uint8Array"],
  ["a promise inside", { later: Promise.resolve(1) }, "a value of type Promise at /later"],
];

describe.each(ERAS)("in %s, a tool that returns", (revision) => {
  it.each(LOST)("%s fails by name and path, for its caller and in the server's log", async (_what, value, named) => {
    const { client, lines } = await served(() => value, revision);
    const message = `the tool "buy" returned ${named}, which JSON cannot represent`;
    const error = await errorOf(() => client.callTool("buy"));
    expect({ kind: error.kind, message: error.message, fix: error.fix }).toEqual({
      kind: "internal_error",
      message,
      fix: LOOK,
    });
    expect(lines).toEqual([`${message}. ${PLAIN_DATA}`]);
    await client.close();
  });

  it.each([
    ["nothing", undefined, []],
    ["null", null, [{ type: "text", text: "null" }]],
    ["a Date", new Date(0), [{ type: "text", text: '"1970-01-01T00:00:00.000Z"' }]],
    ["a result of the official SDK", { content: [{ type: "text", text: "hi" }] }, [{ type: "text", text: "hi" }]],
  ])("%s gives what the guide says, and no warning", async (_what, value, content) => {
    const { client, lines } = await served(() => value, revision);
    expect((await client.callTool("buy")).content).toEqual(content);
    expect(lines).toEqual([]);
    await client.close();
  });

  it("what its output schema does not describe fails by path, for its caller and in the server's log", async () => {
    const { client, lines } = await served(() => ({ n: "1" }), revision, z.object({ n: z.number() }));
    const message =
      'the result of tool "buy" does not fit its output schema: /n: Invalid input: expected number, received string';
    expect((await errorOf(() => client.callTool("buy"))).message).toBe(message);
    expect(lines).toEqual([`${message}. Return what \`output\` describes, or change \`output\`.`]);
    await client.close();
  });
});

/** What is thrown, and what the caller reads of it. */
const THROWN: [what: string, thrown: unknown, text: string][] = [
  ["an error", new Error("the till is jammed"), "the till is jammed"],
  ["an error without a message", new Error(), "an error without a message"],
  ["a string", "boom", "boom"],
  ["an empty string", "", "an error without a message"],
  ["undefined", undefined, "undefined was thrown, which is not an error"],
  ["null", null, "null was thrown, which is not an error"],
  ["a number", 7, "7 was thrown, which is not an error"],
  ["an object", { code: 1 }, '{"code":1} was thrown, which is not an error'],
  ["an object with a message", { message: "sold out" }, "sold out"],
  ["a cycle", cycle, "an error that cannot be read"],
];

describe.each(ERAS)("in %s, a handler that throws", (revision) => {
  it.each(THROWN)("%s is heard by its caller and in the server's log", async (_what, thrown, text) => {
    const { client, lines } = await served(async () => {
      throw thrown;
    }, revision);
    expect(await client.callTool("buy")).toMatchObject({ isError: true, content: [{ type: "text", text }] });
    const { kind, message, fix } = await errorOf(() => client.getPrompt("sum"));
    expect({ kind, message, fix }).toEqual({ kind: "internal_error", message: text, fix: LOOK });
    const printed = thrown instanceof Error ? "handlers.test.ts:" : text;
    for (const line of lines) expect(line).toContain(printed);
    expect(lines.map((line) => line.replace(/^error \S+ in (\S+ "\w+").*/s, "$1"))).toEqual([
      'tools/call "buy"',
      'prompts/get "sum"',
    ]);
    await client.close();
  });
});

const FORGOTTEN: [what: string, forget: (ctx: HandlerContext) => unknown][] = [
  ["elicit", (ctx) => ctx.elicit("Sure?", z.object({ yes: z.boolean() }))],
  ["sample", (ctx) => ctx.sample({ messages: [{ role: "user", content: { type: "text", text: "?" } }], maxTokens: 5 })],
  ["step", (ctx) => ctx.step("paid", () => 5)],
];

describe.each(ERAS)("in %s, a handler that forgets `await`", (revision) => {
  it.each(FORGOTTEN)("before `ctx.%s` is named in the server's log, and the process lives", async (what, forget) => {
    const { client, lines } = await served((_args, ctx) => {
      void forget(ctx);
      return "done";
    }, revision);
    expect(await client.call("buy")).toBe("done");
    expect(lines).toEqual([
      `\`ctx.${what}\` was not awaited: the handler of "buy" returned before it was done; write \`await\``,
    ]);
    await client.close();
  });

  it("in middleware, so that it returns nothing, is told what to write", async () => {
    const lines: string[] = [];
    const server = new Server({ name: "shop", version: "1" }, { platform: { warn: (line) => void lines.push(line) } })
      .tool("buy", () => "bought")
      .use(
        loosely(async (call: { method: string }, next: () => Promise<unknown>) => {
          const result = await next();
          return call.method === "tools/call" ? undefined : result;
        }),
      );
    const client = await connect(server, { revisions: [revision] });
    expect((await errorOf(() => client.call("buy"))).message).toBe("middleware returned nothing for tools/call");
    expect(lines).toEqual(["middleware returned nothing for tools/call. Write `return next();`, or return a result."]);
    await client.close();
  });
});
