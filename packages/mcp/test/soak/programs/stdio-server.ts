// A server on stdin and stdout that a lane floods; commands come beside them.
import { Server } from "@parley/mcp";
import { serveStdio } from "@parley/mcp/node";
import { answerCommands } from "./answer-commands.js";

const server = new Server({ name: "soak", version: "1.0.0" }).tool("hello", {}, () => "hello");
await serveStdio(server);
answerCommands({}, {});
