import { ModuleFolder } from "./module-folder.js";

/** A server that asks, reports progress and runs tasks; its arguments give its name. */
const CHILD = `
import { Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";
import { tasks } from "@parley/mcp/tasks";
const form = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] };
const server = new Server({ name: process.argv[2], version: "1.0.0" }, { extensions: [tasks({ pollIntervalMs: 20 })] })
  .tool("pid", { description: "Gives the number of its process" }, () => String(process.pid))
  .tool("ask", async (_args, ctx) => {
    ctx.progress(1, { total: 2 });
    const { sure } = await ctx.elicit("Sure?", form);
    return sure ? "done" : "left alone";
  })
  .tool("count", { task: "required" }, async (_args, ctx) => ctx.step("count", () => "counted"));
await serveStdio(server);
`;

/** A folder with a program that is a server, and a file that configures it. */
export class GatewayFolder extends ModuleFolder {
  constructor() {
    super({ "child.mjs": CHILD });
    this.link();
  }

  /** How to start the program under a name. */
  child(name: string): { command: string; args: string[] } {
    return { command: process.execPath, args: [`${this.path}/child.mjs`, name] };
  }

  /** Writes a file of servers and gives its path. */
  config(servers: object, file = "servers.json"): string {
    return this.write(file, JSON.stringify({ mcpServers: servers }));
  }
}
