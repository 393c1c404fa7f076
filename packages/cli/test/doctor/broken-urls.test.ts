import { lookup } from "node:dns/promises";
import { createServer as createNetServer } from "node:net";
import { nodeHandler, serveHttp } from "@parley/mcp/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { server } from "../fixtures/fixture-server.js";
import { runParley } from "../kit/run-parley.js";
import { makeCertificate, serveTls } from "./certificates.js";
import { examine, portOf, serveRequests, statuses } from "./examine.js";

/** A port at which nothing listens any more. */
async function closedPort(): Promise<number> {
  const taken = createNetServer();
  const port = await portOf(taken);
  await new Promise((resolve) => taken.close(resolve));
  return port;
}

describe("parley doctor of a URL", () => {
  it("says that nothing listens", async () => {
    const port = await closedPort();
    const seen = await examine([`http://127.0.0.1:${port}/mcp`]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "tcp",
      code: "refused",
      cause: `nothing is listening at 127.0.0.1 port ${port} (ECONNREFUSED)`,
      fix: expect.stringContaining("Start the server, or check the port"),
    });
    expect(statuses(seen)).toMatchObject({ dns: "ok", tcp: "failed", tls: "skipped", schemas: "skipped" });
  });

  it("says that a name does not exist", async () => {
    const why = await lookup("nobody.invalid").then(
      () => "it exists",
      (error: NodeJS.ErrnoException) => error.code,
    );
    const { broken, code } = await examine(["https://nobody.invalid/mcp"]);
    expect(code).toBe(3);
    // A machine without a name server cannot know that a name does not exist.
    expect(broken).toMatchObject({
      step: "dns",
      code: why === "EAI_AGAIN" ? "dns_unavailable" : "unknown_host",
      cause: expect.stringContaining("nobody.invalid"),
    });
  });

  it("says that a certificate is signed by itself", async () => {
    const port = await serveTls(makeCertificate());
    const { broken, code } = await examine([`https://127.0.0.1:${port}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "tls",
      code: "certificate_self_signed",
      cause: "the certificate of 127.0.0.1 is self-signed (doctor-test)",
      fix: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
  });

  it("says when a certificate expired", async () => {
    const port = await serveTls(makeCertificate({ isExpired: true }));
    const { broken, code } = await examine([`https://127.0.0.1:${port}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "tls",
      code: "certificate_expired",
      cause: "the certificate of 127.0.0.1 expired on Feb  1 00:00:00 2020 GMT",
      fix: expect.stringContaining("Renew it on the server"),
    });
  });

  it("says that https is spoken to a port of plain http", async () => {
    const origin = await serveRequests((_request, response) => response.end());
    const { broken, code } = await examine([`${origin.replace("http:", "https:")}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "tls",
      code: "not_tls",
      cause: expect.stringContaining("does not speak TLS"),
      fix: "Write http:// instead of https://, or use the port that has TLS.",
    });
  });

  it("says that plain http is spoken to a port of https", async () => {
    const port = await serveTls(makeCertificate());
    const { broken, code } = await examine([`http://127.0.0.1:${port}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "http",
      code: "https_needed",
      cause: `127.0.0.1:${port} expects TLS on this port, but the URL says plain http`,
      fix: "Write https:// instead of http://.",
    });
  });

  it("says that a path has nothing, and where a server is", async () => {
    const nothing = await serveRequests((_request, response) => response.writeHead(404).end("no"));
    const { broken, code } = await examine([`${nothing}/api`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({
      step: "http",
      code: "not_found",
      cause: `${nothing.slice("http://".length)} has nothing at /api (404)`,
      fix: "Correct the path of the URL; MCP servers often listen at /mcp.",
    });
    const handle = await serveHttp(server, { port: 0 });
    onTestFinished(() => handle.close());
    const other = await examine([handle.url.replace(/mcp$/, "api")]);
    expect(other.broken).toMatchObject({ code: "not_found", fix: `Use ${handle.url}: a server answers there.` });
  });

  it.each([
    ["html_page", 200, "text/html; charset=utf-8", "<!doctype html><p>Hi</p>", "answers with an HTML page (200)"],
    ["not_mcp", 200, "application/json", '{"status":"up"}', 'not an MCP message: "{\\"status\\":\\"up\\"}"'],
    ["no_post", 405, "text/plain", "", "does not accept a POST at /mcp (405)"],
    ["server_error", 500, "text/plain", "boom", "failed (500): boom"],
    ["bad_gateway", 502, "text/html", "<html>", "cannot reach the server behind it (502)"],
    ["overloaded", 503, "text/plain", "later", "accepts no requests at the moment (503): later"],
    ["redirected", 302, "text/plain", "", "to https://login.example/, which clients do not follow"],
  ])("tells %s by its answer", async (expected, status, type, body, cause) => {
    const origin = await serveRequests((_request, response) => {
      response.writeHead(status, { "content-type": type, location: "https://login.example/" }).end(body);
    });
    const { broken, code } = await examine([`${origin}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({ step: "http", code: expected, cause: expect.stringContaining(cause) });
    expect(broken?.fix).not.toBe("");
  });

  it("warns of a server that has only the old transport, and examines it", async () => {
    const handler = nodeHandler(server, { legacySse: {} });
    onTestFinished(() => handler.close());
    const origin = await serveRequests((request, response) => {
      // Servers of that time had one address for the stream, and another for messages.
      if (request.method === "POST" && request.url === "/sse") response.writeHead(405).end();
      else handler(request, response);
    });
    const seen = await examine([`${origin}/sse`]);
    expect(seen).toMatchObject({ code: 0, ok: true, server: { name: "fixture" } });
    const [finding] = seen.steps.find(({ step }) => step === "http")?.findings ?? [];
    expect(finding).toMatchObject({
      code: "legacy_sse",
      cause: expect.stringContaining("only HTTP with SSE, the transport of the first revision"),
      fix: expect.stringContaining("Serve Streamable HTTP"),
    });
    expect(statuses(seen)).toMatchObject({ http: "warning", handshake: "ok", tools: "ok", schemas: "ok" });
  });

  it("says where a server with the old transport is", async () => {
    const origin = await serveRequests((request, response) => {
      if (request.url !== "/sse") return void response.writeHead(404).end();
      response.writeHead(200, { "content-type": "text/event-stream" }).write("event: endpoint\ndata: /messages\n\n");
    });
    const { broken } = await examine([`${origin}/mcp`]);
    expect(broken).toMatchObject({ code: "not_found", fix: `Use ${origin}/sse: a server answers there.` });
  });

  it("shows no value of a query, which may be a key", async () => {
    const origin = await serveRequests((_request, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    });
    const url = `${origin}/mcp?api_key=very-secret&x=y`;
    for (const more of [[], ["--json"]]) {
      const { stdout } = await runParley(["doctor", url, ...more]);
      expect(stdout).toContain(`${origin}/mcp?api_key=…&x=…`);
      expect(stdout).not.toContain("very-secret");
    }
  });

  it("says that a server does not accept the name under which it is reached", async () => {
    const handle = await serveHttp(server, { port: 0 });
    onTestFinished(() => handle.close());
    const seen = await examine([handle.url, "--header", "Host: shop.example"]);
    expect(seen.code).toBe(3);
    expect(seen.broken).toMatchObject({
      step: "host",
      code: "host_refused",
      cause: expect.stringMatching(
        /refuses requests for shop\.example \(403\): the Host header "shop\.example" is not allowed/,
      ),
      fix: expect.stringContaining("`publicUrl` or `allowedHosts`"),
    });
  });

  it("says that what answers is not HTTP", async () => {
    const ssh = createNetServer((socket) => {
      socket.on("error", () => {});
      socket.end("SSH-2.0-OpenSSH_9.6\r\n");
    });
    const port = await portOf(ssh);
    onTestFinished(() => void ssh.close());
    const { broken, code } = await examine([`http://127.0.0.1:${port}/mcp`]);
    expect(code).toBe(3);
    expect(broken).toMatchObject({ step: "http", code: "not_http", fix: expect.stringContaining("Check the port") });
  });
});
