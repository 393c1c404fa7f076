import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveHttp } from "../../../src/node/http/serve-http.js";
import { Server } from "../../../src/server/server.js";
import { fetchHandler } from "../../../src/transport/http/fetch-handler.js";
import type { ListeningHandle } from "../../../src/transport/serve-handle.js";
import { parseReply, type RawReply } from "../../http/raw-http.js";
import { DOOR_CASES } from "./door-cases.js";
import { ENVELOPE_CASES } from "./envelope-cases.js";
import { FRAMING_CASES } from "./framing-cases.js";
import { HEADER_CASES } from "./header-cases.js";
import { GOOD_BODY, GOOD_HEADERS, type HttpCase } from "./http-case.js";
import { KEY_CASES } from "./key-cases.js";
import { SESSION_CASES } from "./session-cases.js";
import { SYNTAX_CASES } from "./syntax-cases.js";

const CASES = [
  ...SYNTAX_CASES,
  ...ENVELOPE_CASES,
  ...HEADER_CASES,
  ...DOOR_CASES,
  ...FRAMING_CASES,
  ...SESSION_CASES,
  ...KEY_CASES,
];

let runs = 0;
const server = new Server({ name: "t", version: "1" }).tool(
  "count",
  { input: { type: "object" } },
  () => `run ${++runs}`,
);
const GOOD: HttpCase = { category: "good", name: "good", headers: GOOD_HEADERS, body: GOOD_BODY, status: 200 };

/** Things that nobody may leave behind. */
const loose: unknown[] = [];
const note = (reason: unknown) => void loose.push(reason);

function bytesOf(item: HttpCase): Uint8Array {
  if (item.raw !== undefined) return Buffer.from(item.raw, "latin1");
  const body = Buffer.from(item.body ?? "");
  const lines = item.headers.map(([name, value]) => `${name}: ${value}`);
  if (item.body !== undefined) lines.push(`content-length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${item.method ?? "POST"} /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`), body]);
}

/** Sends the bytes; the reply to HEAD and to refused framing may come without a body. */
function overSocket(port: number, item: HttpCase): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => settle(undefined), 30_000);
    const settle = (reply: RawReply | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      if (reply === undefined) reject(new Error(`no reply to: ${item.name}`));
      else resolve(reply);
    };
    const look = (ended: boolean) => {
      const reply = parseReply(Buffer.concat(chunks), ended || item.method === "HEAD");
      if (reply !== undefined || ended) settle(reply);
    };
    socket.on("connect", () => socket.write(bytesOf(item)));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      look(false);
    });
    socket.on("end", () => look(true));
    socket.on("error", () => look(true));
  });
}

async function byCall(handler: (request: Request) => Promise<Response>, item: HttpCase): Promise<RawReply> {
  const headers = new Headers();
  for (const [name, value] of item.headers) headers.append(name, value);
  const body = item.body === undefined ? {} : { body: item.body as BodyInit };
  const request = new Request("http://localhost:3000/mcp", { method: item.method ?? "POST", headers, ...body });
  // A body of text would bring a type of its own.
  if (!headers.has("content-type")) request.headers.delete("content-type");
  const response = await handler(request);
  const replied = new Map<string, string>();
  response.headers.forEach((value, name) => {
    replied.set(name, value);
  });
  const isStream = replied.get("content-type") === "text/event-stream";
  if (isStream) await response.body?.cancel();
  return { status: response.status, headers: replied, body: isStream ? "" : await response.text() };
}

function check(item: HttpCase, reply: RawReply, ran: number): void {
  const expected = typeof item.status === "number" ? [item.status] : item.status;
  const label = `${item.category}: ${item.name}: ${reply.body.slice(0, 200)}`;
  expect(expected, label).toContain(reply.status);
  expect(ran, `${label}: handler runs`).toBe(item.good === true ? 1 : 0);
  if (reply.status === 405) expect(reply.headers.get("allow"), label).toContain("POST");
  expect(reply.body, label).not.toMatch(/node_modules|\.ts:\d+|\bat \w+ \(/);
  if (item.code === undefined || item.code === null) return;
  const message = JSON.parse(reply.body) as { id?: unknown; error?: { code: number; message: string } };
  expect(message.error?.code, label).toBe(item.code);
  expect(message.error?.message, label).toBeTypeOf("string");
  if (item.id !== undefined) expect(message.id, label).toBe(item.id);
  // The legacy range has no meaning and is never used.
  expect(item.code > -32000 || item.code < -32019).toBe(true);
}

beforeAll(() => {
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
});
afterAll(() => {
  process.off("unhandledRejection", note);
  process.off("uncaughtException", note);
});

it("The corpus has at least 500 cases", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(500);
});

describe("every bad request gets its refusal, and a good one after it succeeds", () => {
  const categories = [...new Set(CASES.map((item) => item.category))];

  it.each(categories)(
    "through a socket: %s",
    async (category) => {
      const handle: ListeningHandle = await serveHttp(server, { port: 0 });
      try {
        for (const item of CASES.filter((one) => one.category === category)) {
          const before = runs;
          check(item, await overSocket(handle.port, item), runs - before);
          expect((await overSocket(handle.port, GOOD)).status, `a good request after ${item.name}`).toBe(200);
        }
      } finally {
        await handle.close();
      }
      expect(loose).toEqual([]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
    60_000,
  );

  it.each(categories)(
    "through fetchHandler: %s",
    async (category) => {
      const handler = fetchHandler(server);
      for (const item of CASES.filter((one) => one.category === category && one.socketOnly === undefined)) {
        const before = runs;
        check(item, await byCall(handler, item), runs - before);
        expect((await byCall(handler, GOOD)).status, `a good request after ${item.name}`).toBe(200);
      }
      handler.close();
      expect(loose).toEqual([]);
    },
    60_000,
  );
});
