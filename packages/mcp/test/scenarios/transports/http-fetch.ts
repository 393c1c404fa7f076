import { connect } from "@parley/mcp";
import { fetchHandler } from "../../../src/transport/http/fetch-handler.js";
import type { TransportUnderTest } from "./transport-under-test.js";

/** The web-standard handler, called without a socket: what an edge runtime does. */
export const httpFetch: TransportUnderTest = {
  name: "http-fetch",
  async serve(server) {
    const handler = fetchHandler(server());
    return {
      connect: (options) =>
        connect("http://localhost/mcp", {
          ...options,
          fetch: (url, init) => {
            const headers = new Headers(init?.headers);
            headers.set("host", "localhost");
            return handler(new Request(url, { ...init, headers }));
          },
        }),
      close: async () => handler.close(),
    };
  },
};
