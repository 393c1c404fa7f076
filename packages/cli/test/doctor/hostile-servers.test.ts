import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runParley } from "../kit/run-parley.js";
import { examine, serveRequests } from "./examine.js";

const ESCAPES = "\u001b[2J\u001b]0;owned\u0007\u202eevil\u009b31m";
/** Every character that acts on a terminal, but the ends of lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
const ACTIVE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

describe("parley doctor of a hostile server", () => {
  it.each([
    ["its answer", 200, "application/json", `"${ESCAPES}"`],
    ["its error", 500, "text/plain", ESCAPES],
    ["its refusal of a host", 403, "text/plain", `host ${ESCAPES}`],
    ["a login", 403, "text/plain", ESCAPES],
  ])("shows nothing of %s that acts on a terminal", async (_what, status, type, body) => {
    const origin = await serveRequests((_request, response) => {
      response.writeHead(status, { "content-type": type }).end(body);
    });
    for (const more of [[], ["--json"]]) {
      const { stdout, stderr, code } = await runParley(["doctor", `${origin}/mcp`, ...more]);
      expect(code).toBeGreaterThan(0);
      expect(stdout).toContain("[2J");
      expect(stdout).not.toMatch(ACTIVE);
      expect(stderr).toBe("");
    }
  });

  it("shows nothing of a program's output that acts on a terminal", async () => {
    const script = `console.error(${JSON.stringify(ESCAPES)}); process.exit(1)`;
    const { stdout } = await runParley(["doctor", "--", process.execPath, "-e", script]);
    expect(stdout).toContain("[2J");
    expect(stdout).not.toMatch(ACTIVE);
  });

  it("reads no more than the beginning of a body that never ends", async () => {
    let sent = 0;
    const chunk = "<p>".padEnd(64 * 1024, "x");
    const origin = await serveRequests((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const fill = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on("drain", fill);
      fill();
    });
    const { broken } = await examine([`${origin}/mcp`]);
    expect(broken?.code).toBe("html_page");
    // What one connection holds on both sides is a few megabytes.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it("does not wait for the end of a body that comes by drops", async () => {
    const origin = await serveRequests((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const drip = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(drip));
    });
    expect((await examine([`${origin}/mcp`])).broken?.code).toBe("html_page");
  });

  it("says that a server takes a request and answers nothing", async () => {
    const origin = await serveRequests(() => {});
    const { broken, code } = await examine([`${origin}/mcp`, "--timeout", "2s"]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "http",
      code: "http_no_answer",
      cause: expect.stringContaining("did not answer within"),
      fix: expect.stringContaining("Check the server's log"),
    });
  });

  it("ends a loop of redirects", async () => {
    let hops = 0;
    const origin = await serveRequests((_request, response) => {
      response.writeHead(307, { location: `/mcp?hop=${++hops}` }).end();
    });
    const { broken, code } = await examine([`${origin}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "http",
      code: "redirect_loop",
      cause: expect.stringContaining("redirects more than 5 times"),
      fix: expect.stringContaining("Connect to the final address"),
    });
    expect(hops).toBe(6);
  });

  it.each([undefined, ""])("does not follow a redirect whose Location is %j", async (location) => {
    let hops = 0;
    const origin = await serveRequests((_request, response) => {
      hops++;
      response.writeHead(307, location === undefined ? {} : { location }).end();
    });
    const { broken, code } = await examine([`${origin}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "http",
      code: "redirected",
      cause: `${origin}/mcp redirects (307) without a target`,
      fix: expect.stringContaining("Location"),
    });
    expect(hops).toBe(1);
  });

  it("ends a list without end", async () => {
    const origin = await serveRequests((request, response) => {
      let text = "";
      request.on("data", (data: Buffer) => {
        text += data;
      });
      request.on("end", () => {
        if (request.method !== "POST") return void response.writeHead(405).end();
        const { id, method } = JSON.parse(text) as { id?: number; method: string };
        if (id === undefined) return void response.writeHead(202).end();
        const name = `t${Math.random()}`;
        const results: Record<string, object> = {
          initialize: {
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "n", version: "1" },
          },
          "tools/list": { tools: [{ name, inputSchema: { type: "object" } }], nextCursor: name },
        };
        const result = results[method];
        const body = result === undefined ? { error: { code: -32601, message: "no" } } : { result };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
      });
    });
    const seen = await examine([`${origin}/mcp`]);
    expect(seen.code).toBe(5);
    expect(seen.broken).toMatchObject({ step: "tools", code: "list_failed", cause: expect.stringContaining("pages") });
  });

  it("ends a step that would never end when the time is over", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-doctor-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "server.mjs");
    writeFileSync(path, "await new Promise(() => {});\n");
    const seen = await examine([path, "--timeout", "1s"]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "module",
      code: "out_of_time",
      cause: 'the time limit of 1000 ms was reached during the step "module"',
      fix: expect.stringContaining("--timeout 2m"),
    });
  });

  it("ends at once when it is interrupted", async () => {
    const interrupt = new AbortController();
    const origin = await serveRequests(() => interrupt.abort(new Error("interrupted by SIGINT")));
    const { code, stderr } = await runParley(["doctor", `${origin}/mcp`], { signal: interrupt.signal });
    expect(code).toBe(130);
    expect(stderr).toBe("interrupted\n");
  });
});
