import { McpError, Server, type ServerOptions, ToolError } from "@parley/mcp";

/** The text of every unexpected error of the server. */
export const SECRET = "the password of the database is hunter2";

/** A server whose handlers fail, by mistake or in words for their callers. */
export function failingServer(options: ServerOptions = {}): Server {
  const fail = (): never => {
    throw new Error(SECRET);
  };
  return new Server({ name: "failing", version: "1" }, { onError: () => {}, ...options })
    .tool("fail", {}, fail)
    .tool("refuse", {}, () => {
      throw new ToolError("this city is unknown");
    })
    .tool("stop", {}, () => {
      throw new McpError("timeout", "the station is slow");
    })
    .resource("note://fail", {}, fail)
    .prompt("fail", {}, fail) as Server;
}
