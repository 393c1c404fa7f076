import { appendFileSync, existsSync } from "node:fs";
import { Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";

// Arguments: its name, then what is wrong with it.
const [, , name = "server", fault = "", path = ""] = process.argv;

if (fault === "exits-until" && !existsSync(path)) process.exit(3);
if (fault === "hangs-until" && !existsSync(path)) {
  setInterval(() => {}, 1000);
} else {
  const server = new Server({ name, version: "1.0.0" })
    .tool("whoami", { annotations: { readOnlyHint: true, idempotentHint: true } }, () => name)
    .tool("pid", {}, () => String(process.pid))
    .tool("add", { input: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } }, (args) => {
      if (path !== "") appendFileSync(path, `${JSON.stringify(args)}\n`);
      return "added";
    })
    .tool("wait", {}, async (_args, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
      return "aborted";
    })
    .tool("die", {}, () => process.exit(1))
    .resource("note://one", { description: "a note" }, () => `note of ${name}`)
    .prompt("greet", { arguments: { who: { required: true } } }, ({ who }) => `greet ${who} from ${name}`);
  await serveStdio(server);
}
