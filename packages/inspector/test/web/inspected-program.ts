import { createInterface } from "node:readline";
import { Server } from "@parley/mcp";

/** A program that inspects its own server until its stdin ends; each line is the name of a tool that is added, or removed. */
const server = new Server({ name: "own", version: "1.0.0" }).tool("hello", () => `hello from ${process.pid}`);
const inspector = await server.inspect();
for await (const name of createInterface({ input: process.stdin })) {
  if (!server.remove("tool", name)) server.tool(name, () => name);
}
await inspector.close();
process.stdout.write("closed\n");
