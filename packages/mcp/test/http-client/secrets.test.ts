import { afterEach, describe, expect, it } from "vitest";
import { nodeSender } from "../../src/node/http/sender.js";
import { platform } from "../../src/node/platform.js";
import { webSocketTransport } from "../../src/transport/channel/websocket-client.js";
import { httpClientTransport } from "../../src/transport/http/client/client.js";
import { legacySseTransport } from "../../src/transport/http/client/legacy-sse.js";
import { closeAll, later } from "./opened.js";
import { call, notice, recordingReceiver, rejection } from "./recording-receiver.js";
import { event, json, type Script, scriptedServer, stream } from "./scripted-server.js";

afterEach(closeAll);

const KEY = "sk-very-secret";

const SCRIPTS: Record<string, Script> = {
  "a page": (_request, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
  "an error": (_request, response) => json(response, { oops: true }, 500),
  "a stream that ends": (_request, response) => {
    stream(response);
    response.write(event({ jsonrpc: "2.0", method: "notifications/x" }));
    response.end();
  },
  "a cut connection": (_request, response) => void response.destroy(),
  "a redirect to elsewhere": (_request, response) =>
    void response.writeHead(307, { location: `http://elsewhere.invalid/?key=${KEY}` }).end(),
};

describe("the key in the query of an address", () => {
  it.each(Object.entries(SCRIPTS))("is sent, and is in no message about %s", async (_name, script) => {
    const server = await scriptedServer(script);
    later(() => server.close());
    const address = `${server.url}?key=${KEY}&${KEY}`;
    const options = { sender: nodeSender(), platform, getStream: false };
    for (const make of [httpClientTransport, legacySseTransport]) {
      const transport = make(address, options);
      later(() => transport.close());
      expect(transport.target).toBe(`${server.url}?key=…&…`);
      const failed = async () => {
        await transport.open(recordingReceiver());
        await transport.request(call(1));
      };
      const told = async () => transport.notify(notice("notifications/x"));
      const errors = [await rejection(failed()), await told().catch((error: Error) => error)];
      for (const error of errors) if (error !== undefined) expect(error.message).not.toContain(KEY);
    }
    expect(server.requests[0]?.url).toContain(KEY);
  });

  it("is in no message about a WebSocket", async () => {
    const transport = webSocketTransport(`ws://127.0.0.1:1/?key=${KEY}`, {
      openWebSocket: () => {
        throw new Error("no");
      },
    });
    expect(transport.target).toBe("ws://127.0.0.1:1/?key=…");
  });
});
