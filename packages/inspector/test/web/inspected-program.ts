import { inspect } from "@parley/inspector";
import { Server } from "@parley/mcp";

/** A program that inspects its own server until its stdin ends. */
const server = new Server({ name: "own", version: "1.0.0" }).tool("hello", () => "hello");
const inspector = await inspect(server);
process.stdin.on("end", () => void inspector.close()).resume();
await inspector.closed;
process.stdout.write("closed\n");
