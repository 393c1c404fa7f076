import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A site of somebody else, on this machine, under every name that points here. */
export interface ForeignSite {
  readonly port: number;
  /** Requests that arrived since the last time this was asked. */
  arrivals(): { readonly url: string; readonly cookie: string }[];
  close(): Promise<void>;
}

/** Serves an empty page at every path; `/to?…` redirects to the address behind the question mark. */
export async function openForeignSite(): Promise<ForeignSite> {
  const arrived: { url: string; cookie: string }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const { url = "", headers } = request;
    arrived.push({ url, cookie: headers.cookie ?? "" });
    response.setHeader("access-control-allow-origin", "*");
    if (url.startsWith("/to?")) response.writeHead(302, { location: decodeURIComponent(url.slice(4)) }).end();
    else response.setHeader("content-type", "text/html").end("<!doctype html><title>foreign</title><body>");
  });
  server.on("upgrade", (request, socket) => {
    arrived.push({ url: request.url ?? "", cookie: "" });
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    // A server on an address has an object for it.
    port: (server.address() as AddressInfo).port,
    arrivals: () => arrived.splice(0),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
