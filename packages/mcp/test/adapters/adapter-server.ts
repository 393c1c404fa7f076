import { content, Server } from "@parley/mcp";

/** A picture of one pixel, in base64. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A server with one tool of each kind that adapters treat differently. `seen` are the arguments that arrived. */
export function adapterServer() {
  const seen: unknown[] = [];
  const server = new Server({ name: "adapters", version: "1.0.0" }, { onError: () => {}, platform: { warn: () => {} } })
    .tool(
      "add",
      {
        description: "Adds numbers.",
        input: {
          type: "object",
          properties: {
            a: { type: "integer", minimum: 0 },
            b: { type: "integer" },
            note: { type: "string", minLength: 1 },
            tags: { type: "object", additionalProperties: { type: "string" } },
          },
          required: ["a", "b"],
          additionalProperties: false,
        },
        output: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
      },
      (args) => {
        seen.push(args);
        const { a, b } = args as { a: number; b: number };
        return { sum: a + b };
      },
    )
    .tool("odd/name of a tool", { description: "Has a name that no provider accepts." }, () => "odd")
    .tool("picture", { description: "Shows a pixel." }, () => [
      content.text("a pixel"),
      content.image(PIXEL, "image/png"),
    ])
    .tool("fails", {}, () => {
      throw new Error("the disk is full");
    })
    .tool(
      "waits",
      {},
      (_args, ctx) =>
        new Promise<string>((_resolve, reject) =>
          ctx.signal.addEventListener("abort", () => reject(new Error("cancelled"))),
        ),
    );
  return { server, seen };
}
