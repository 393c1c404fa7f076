import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, McpError } from "@parley/mcp";
import { serveFolder } from "./server.js";

const folder = await mkdtemp(join(tmpdir(), "parley-files-"));
await writeFile(join(folder, "todo.txt"), "buy bread");

const client = await connect(serveFolder(folder));
for await (const { uri } of client.resources()) console.log(`listed   ${uri}`);
console.log(`read     ${await textOf("folder:///todo.txt")}`);

const outside = await client.readResource("folder:///..%2F..%2Fetc%2Fpasswd").catch(McpError.from);
console.log(`refused  ${McpError.is(outside) ? outside.message : "nothing"}`);

const changes = await client.subscribe("folder:///todo.txt");
await writeFile(join(folder, "todo.txt"), "bake bread");
for await (const { uri } of changes) {
  const text = await textOf(uri ?? "");
  // A file is truncated before it is written, and a watcher may report both.
  if (text === "") continue;
  console.log(`changed  ${text}`);
  break;
}

await client.close();
await rm(folder, { recursive: true });

async function textOf(uri: string): Promise<string> {
  const [first] = (await client.readResource(uri)).contents;
  return first !== undefined && "text" in first ? first.text : "";
}
