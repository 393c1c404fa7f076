// Serves a Node request listener on a free loopback port, says where, and ends with the process that started it.
import { createServer } from "node:http";

/** The listener must answer `/mcp`; the address of that path is the first line of standard output. */
export function listen(listener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
  endWithParent();
}

/** Standard input ends when the parent is gone, however it went. */
export function endWithParent() {
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
}

export async function readJson(request) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text === "" ? undefined : JSON.parse(text);
}
