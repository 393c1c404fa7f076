// A page that imports what only runs in Node.
import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";

Reflect.deleteProperty(globalThis, "process");
const serving = serveHttp(new Server({ name: "shop", version: "1" }), { port: 0 });
serving.catch((error: { message: string; fix: string }) => console.log(`${error.message}\n${error.fix}`));
