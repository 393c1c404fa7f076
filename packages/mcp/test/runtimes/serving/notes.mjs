import { fetchHandler, Server } from "@parley/mcp";

const ANSWER = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const INPUT = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const server = new Server(
  { name: "served by a runtime", version: "1.0.0" },
  { secret: "the secret of the tests of runtimes" },
)
  .tool("greet", { input: INPUT }, ({ name }) => `Hello ${name}`)
  .tool("steps", {}, (_args, ctx) => {
    ctx.progress(1, 2);
    ctx.progress(2, 2);
    return "done";
  })
  .tool("ask", {}, async (_args, ctx) => `asked ${(await ctx.elicit("Who are you?", ANSWER)).name}`);

/** What the pages of the guides export to every runtime. */
export const handler = fetchHandler(server);
