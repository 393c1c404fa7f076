import { connect, Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";
import { z } from "zod";

// One program in two roles: with the argument `serve` it is the server, without it the client that starts the server.
const server = new Server({ name: "calculator", version: "1.0.0" }).tool(
  "add",
  { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
  ({ a, b }) => {
    console.error(`adding ${a} and ${b}`);
    return { sum: a + b };
  },
);

if (process.argv.includes("serve")) await serveStdio(server);
else await callIt();

async function callIt(): Promise<void> {
  const [, program = ""] = process.argv;
  const log: string[] = [];
  const client = await connect<typeof server>({
    command: process.execPath,
    args: [program, "serve"],
    stderr: (line) => log.push(line),
  });
  console.log(`speaks   ${client.protocolVersion}`);
  const { sum } = await client.call("add", { a: 2, b: 3 });
  console.log(`result   ${sum}`);
  await client.close(); // the process is gone now
  console.log(`stderr   ${log.join(", ")}`);
}
