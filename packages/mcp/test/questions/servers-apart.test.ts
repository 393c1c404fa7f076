import { connect, Server } from "@parley/mcp";
import { expect, it } from "vitest";
import { drive } from "./stateless-driver.js";

const info = { name: "s", version: "1" };

it("two servers that ask the same question convert its schema each with their own `toJsonSchema`", async () => {
  const schema = { "~standard": { version: 1, vendor: "none", validate: (value: unknown) => ({ value }) } } as const;
  const titles: unknown[] = [];
  for (const title of ["first", "second"]) {
    const toJsonSchema = () => ({ type: "object", properties: { v: { type: "string", title } } });
    const server = new Server(info, { toJsonSchema }).tool("t", {}, async (_args, ctx) => {
      await ctx.elicit("v?", schema as never);
      return "done";
    });
    const client = await connect(server, {
      onElicit: (question) => {
        titles.push(
          (question as { requestedSchema?: { properties: { v: { title: string } } } }).requestedSchema?.properties.v
            .title,
        );
        return { action: "accept", content: { v: "x" } };
      },
    });
    await client.call("t");
    await client.close();
  }
  expect(titles).toEqual(["first", "second"]);
});

it("a server whose platform guards no rejections installs no listener of its own", async () => {
  const before = process.listenerCount("unhandledRejection");
  let guards = 0;
  const server = new Server(info, { platform: { guardRejections: () => void guards++ } }).tool(
    "t",
    {},
    async (_args, ctx) => {
      await ctx.elicit("v?", { type: "object", properties: { v: { type: "string" } } });
      return "done";
    },
  );
  const { text } = await drive(server as unknown as Server<never>, "t", () => ({ v: "x" }));
  expect([text, guards > 0, process.listenerCount("unhandledRejection")]).toEqual(["done", true, before]);
});
