import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@parley/mcp";
import { socketTransport } from "../../../src/node/socket/socket-client.js";
import { serveSocket } from "../../../src/node/socket/socket-server.js";
import { nodeWebSocketTransport } from "../../../src/node/socket/websocket-client.js";
import { serveWebSocket } from "../../../src/node/socket/websocket-server.js";
import type { TransportUnderTest } from "./transport-under-test.js";

/** A TCP connection on loopback. */
export const tcp: TransportUnderTest = {
  name: "tcp",
  async serve(server) {
    const handle = await serveSocket(server(), { port: 0 });
    return {
      connect: (options) => connect(socketTransport(handle.address), options),
      close: () => handle.close(),
    };
  },
};

/** A Unix socket, in the framing that is not the default. */
export const unixSocket: TransportUnderTest = {
  name: "unix-socket",
  async serve(server) {
    const folder = mkdtempSync(join(tmpdir(), "parley-"));
    const handle = await serveSocket(server(), { path: join(folder, "mcp.sock") });
    return {
      connect: (options) => connect(socketTransport(handle.address, { framing: "content-length" }), options),
      async close() {
        await handle.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

/** A WebSocket through the `ws` package. */
export const webSocket: TransportUnderTest = {
  name: "websocket",
  async serve(server) {
    const handle = await serveWebSocket(server(), { port: 0 });
    return {
      connect: (options) => connect(nodeWebSocketTransport(handle.url), options),
      close: () => handle.close(),
    };
  },
};
