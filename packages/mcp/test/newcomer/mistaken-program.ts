// A small program with one mistake, which its first argument names.
import { connect, Server } from "@parley/mcp";
import { serveHttp, serveStdio } from "@parley/mcp/node";

const [mistake = "", address = ""] = process.argv.slice(2);

const shop = () =>
  new Server({ name: "shop", version: "1" })
    .tool("buy", () => "bought")
    .tool("prints", () => {
      console.log("a line of a handler");
      return "printed";
    })
    .tool("big", () => "x".repeat(17 * 1024 * 1024))
    .tool("floats", () => {
      void Promise.reject(new Error("a late rejection"));
      return new Promise<string>((resolve) => setTimeout(resolve, 1000, "too late"));
    });

const rejects = async () => {
  throw new Error("the log database is down");
};

const PROGRAMS: Record<string, () => unknown> = {
  "prints before": () => {
    console.log("Starting the shop");
    return serveStdio(shop());
  },
  serves: () => serveStdio(shop()),
  "forgets await": async () => {
    const client = await connect(address);
    void client.callTool("byu");
  },
  "rejects in hooks": async () => {
    const server = shop();
    server.observe({ started: rejects, ended: rejects });
    const handle = await serveHttp(server, { port: 0, onRequest: rejects });
    const client = await connect(handle.url);
    client.on("state", rejects);
    console.log(await client.call("buy"));
    await client.close();
    await handle.close();
  },
  "serves over HTTP": () => serveHttp(shop(), { port: 0 }),
};
await PROGRAMS[mistake]?.();
