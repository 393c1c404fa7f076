import { content, McpError, ToolError, tool } from "@parley/mcp";
import { z } from "zod";

/** Typed arguments and a typed result; `"[1, 2]"` is converted to a list, a misspelt argument is reported. */
export const sum = tool(
  "sum",
  {
    title: "Sum",
    description: "Adds numbers",
    input: z.object({ numbers: z.array(z.number()) }),
    output: z.object({ sum: z.number(), coerced: z.boolean() }),
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    icons: [{ src: "https://example.com/sum.png", mimeType: "image/png", sizes: ["48x48"] }],
    _meta: { "com.example/group": "arithmetic" },
  },
  ({ numbers }, ctx) => ({
    sum: numbers.reduce((total, number) => total + number, 0),
    coerced: ctx.coercions.length > 0,
  }),
);

/** Any JSON value may be a result. */
export const primes = tool(
  "primes",
  {
    description: "The primes below a number",
    input: z.object({ below: z.int().max(1000) }),
    output: z.array(z.number()),
  },
  ({ below }) => {
    const all = Array.from({ length: Math.max(0, below - 2) }, (_, index) => index + 2);
    return all.filter((number) => all.every((other) => other >= number || number % other !== 0));
  },
);

/** Content of every kind. */
export const media = tool("media", { description: "Shows every kind of content" }, () => [
  content.text("Some words", { annotations: { audience: ["user"], priority: 0.9 } }),
  content.image(new Uint8Array([137, 80, 78, 71]), "image/png"),
  content.audio(new Uint8Array([82, 73, 70, 70]), "audio/wav"),
  content.resource("note://today", "A note inside the result", { mimeType: "text/plain" }),
  content.link("note://tomorrow", { name: "tomorrow", description: "A note elsewhere" }),
]);

/** An error for the model, an unexpected error, and a protocol error. */
export const fail = tool(
  "fail",
  { description: "Fails in a chosen way", input: z.object({ how: z.enum(["model", "unexpected", "protocol"]) }) },
  ({ how }) => {
    if (how === "model") throw new ToolError("That city has no station; try Oslo.");
    if (how === "unexpected") throw new Error("the disk is full");
    throw new McpError("invalid_params", "there is no such account", { data: { account: 7 } });
  },
);

/** Progress, log messages and cancellation. */
export const work = tool(
  "work",
  { description: "Works in steps", input: z.object({ steps: z.int().min(1).max(20).default(5) }), timeoutMs: 30_000 },
  async ({ steps }, ctx) => {
    for (let step = 1; step <= steps; step++) {
      ctx.signal.throwIfAborted();
      ctx.progress(step, { total: steps, message: `step ${step}` });
      ctx.log("info", { step }, "work");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return `did ${steps} steps`;
  },
);

/** More than a model should read at once: the result is the beginning and a link to the whole. */
export const dump = tool("dump", { description: "Gives a long text", maxResultBytes: 4096, overflow: "link" }, () =>
  "All work and no play makes a dull example.\n".repeat(1000),
);

/** At most two concurrent calls, each limited to one second. */
export const narrow = tool(
  "narrow",
  { description: "Runs twice at once", concurrency: 2, timeoutMs: 1000 },
  async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return "done";
  },
);

/** Visible only to callers that are authenticated as operators. */
export const shutDown = tool(
  "shut_down",
  { description: "Stops the plant", visibleTo: ({ auth }) => auth?.subject === "operator", scopes: ["plant:stop"] },
  () => "stopped",
);
