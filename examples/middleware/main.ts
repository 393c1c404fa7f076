import { connect, McpError, type Middleware, Server } from "@parley/mcp";

/** Limits the number of tool calls of each caller. */
function quota(calls: number): Middleware {
  const used = new Map<string, number>();
  return (call, next) => {
    if (call.method !== "tools/call") return next();
    const who = call.ctx.auth?.key ?? "anonymous";
    const count = (used.get(who) ?? 0) + 1;
    used.set(who, count);
    if (count <= calls) return next();
    throw new McpError("limit_exceeded", `${who} has used up ${calls} calls`, { fix: "Come back tomorrow." });
  };
}

/** Logs what was called and its outcome, without arguments and results. */
const audit: Middleware = async (call, next) => {
  if (call.method !== "tools/call") return next();
  const what = `${call.method} ${call.params.name}`;
  try {
    const result = await next();
    console.log(`audit    ${what}: ok`);
    return result;
  } catch (error) {
    console.log(`audit    ${what}: ${McpError.from(error).kind}`);
    throw error;
  }
};

const server = new Server({ name: "fortunes", version: "1.0.0" })
  .use(audit, quota(2))
  .tool("tell", {}, () => "You will read more documentation.");

const client = await connect(server);
for (let at = 0; at < 3; at++) {
  const told = await client.call("tell").catch((error: unknown) => McpError.from(error).message);
  console.log(`told     ${told}`);
}
await client.close();
