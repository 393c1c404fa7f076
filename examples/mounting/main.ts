import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, McpError, Server } from "@parley/mcp";
import { nodeHandler } from "@parley/mcp/node";

// Two servers in one HTTP server that also has other pages; one of them requires authentication.
const open = new Server({ name: "open", version: "1.0.0" }).tool("time", {}, () => "noon");
const members = new Server({ name: "members", version: "1.0.0" }).tool("whoami", {}, (_args, ctx) => ctx.auth?.subject);

const forAll = nodeHandler(open);
const forMembers = nodeHandler(members, {
  authenticate(request) {
    if (request.header("authorization") === "Bearer s3cret") return { key: "ada", subject: "Ada" };
    return { status: 401, headers: { "www-authenticate": "Bearer" } };
  },
});

const http = createServer((request, response) => {
  if (request.url === "/mcp") return forAll(request, response);
  if (request.url === "/members/mcp") return forMembers(request, response);
  response.end("a page");
});
await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

console.log(`page     ${await (await fetch(origin)).text()}`);
const anyone = await connect<typeof open>(`${origin}/mcp`);
console.log(`time     ${await anyone.call("time")}`);

const stranger = await connect(`${origin}/members/mcp`).catch(McpError.from);
console.log(`stranger ${McpError.is(stranger) ? stranger.kind : "was let in"}`);
const ada = await connect<typeof members>(`${origin}/members/mcp`, { headers: { authorization: "Bearer s3cret" } });
console.log(`member   ${await ada.call("whoami")}`);

await Promise.all([anyone.close(), ada.close()]);
await Promise.all([forAll.drain(), forMembers.drain()]);
http.close();
http.closeAllConnections();
