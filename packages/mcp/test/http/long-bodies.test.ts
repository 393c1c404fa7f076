import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../src/index.js";
import { type ListeningHandle, serveHttp } from "../../src/node.js";
import { modern } from "./modern.js";

let handle: ListeningHandle;

beforeAll(async () => {
  const server = new Server({ name: "t", version: "1" }).tool(
    "echo",
    { input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] } },
    ({ text }) => text,
  );
  handle = await serveHttp(server, { port: 0, limits: { maxMessageBytes: 8_000_000 } });
});

afterAll(() => handle.close());

/** Sends a body in chunks of any size, so that characters are cut. */
function post(body: Buffer, headers: Record<string, string>, chunkBytes = 60_001) {
  return new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request(handle.url, { method: "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", reject);
    for (let at = 0; at < body.length; at += chunkBytes) sent.write(body.subarray(at, at + chunkBytes));
    sent.end();
  });
}

describe("a body of megabytes", () => {
  it("arrives and is answered unchanged, with characters cut between its chunks", async () => {
    const text = 'a\n"é漢😀\u2028'.repeat(200_000);
    const { headers, body } = modern("tools/call", { name: "echo", arguments: { text } });
    const reply = await post(Buffer.from(body), headers);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).result.content).toEqual([{ type: "text", text }]);
  });

  it("keeps a byte order mark, which is not JSON", async () => {
    const { headers, body } = modern("tools/call", { name: "echo", arguments: { text: "a".repeat(2_000_000) } });
    const reply = await post(Buffer.from(`\u{feff}${body}`), headers);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32700 } });
  });

  it("that is not valid UTF-8 is refused, wherever the invalid byte is", async () => {
    const { headers, body } = modern("tools/call", { name: "echo", arguments: { text: "a".repeat(2_000_000) } });
    const bytes = Buffer.from(body);
    for (const at of [200, 1_000_000, bytes.length - 10]) {
      const broken = Buffer.from(bytes);
      broken[at] = 0xff;
      const reply = await post(broken, headers);
      expect(reply.status).toBe(400);
      expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32700, message: "the body is not valid UTF-8" } });
    }
    const cut = Buffer.concat([bytes, Buffer.from("é").subarray(0, 1)]);
    expect((await post(cut, headers)).status).toBe(400);
  });

  it("with a member twice is refused", async () => {
    const { headers, body } = modern("tools/call", { name: "echo", arguments: { text: "a".repeat(2_000_000) } });
    const reply = await post(Buffer.from(body.replace(/\}$/, ',"id":2}')), headers);
    expect(reply.status).toBe(400);
    expect(reply.text).toContain("occurs twice");
  });
});
