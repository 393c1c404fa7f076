import { connect } from "@parley/mcp";
import { serveHttp } from "../../../src/node/http/serve-http.js";
import type { TransportUnderTest } from "./transport-under-test.js";

/** Real sockets through the Node adapter. */
export const httpNode: TransportUnderTest = {
  name: "http-node",
  async serve(server) {
    const handle = await serveHttp(server(), { port: 0 });
    return { connect: (options) => connect(handle.url, options), close: () => handle.close() };
  },
};
