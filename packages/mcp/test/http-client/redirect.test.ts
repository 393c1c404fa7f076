import { afterEach, describe, expect, it } from "vitest";
import { closeAll, later, opened, SENDERS } from "./opened.js";
import { call, notice, rejection } from "./recording-receiver.js";
import { json, result, type Script, scriptedServer } from "./scripted-server.js";
import { until } from "./virtual-time.js";

afterEach(closeAll);

/** Redirects `/mcp` to where the test says; every other path answers. */
function redirecting(code: number, to: () => string | undefined): Script {
  return (request, response) => {
    const location = to();
    if (request.url !== "/mcp") return json(response, result(request, request.url));
    response.writeHead(code, location === undefined ? {} : { location }).end();
  };
}

const SECRETS = { authorization: "Bearer secret", cookie: "a=b", "x-api-key": "k" };

describe.each(SENDERS)("a redirect over %s", (_name, makeSender) => {
  it.each([307, 308])("%i on the same origin is followed with method, body and headers", async (code) => {
    const { server, transport } = await opened(
      redirecting(code, () => "/moved/?x=1"),
      { sender: makeSender(), headers: SECRETS },
    );
    await expect(transport.request(call(1))).resolves.toBe("/moved/?x=1");
    expect(server.requests.map(({ method, body }) => [method, body])).toEqual(
      new Array(2).fill(["POST", call(1).text]),
    );
    expect(server.requests[1]?.headers).toMatchObject(SECRETS);
  });

  it.each([301, 302, 303])("%i of a POST is refused, because it would lose the message", async (code) => {
    const { server, transport } = await opened(
      redirecting(code, () => "/moved"),
      { sender: makeSender() },
    );
    const error = await rejection(transport.request(call(1)));
    expect(error).toMatchObject({
      kind: "transport_error",
      data: { status: code, location: "/moved" },
      fix: expect.any(String),
    });
    expect(server.requests).toHaveLength(1);
  });

  it("to another origin is refused, and nothing is sent there", async () => {
    const foreign = await scriptedServer((request, response) => json(response, result(request)));
    later(() => foreign.close());
    const { transport } = await opened(
      redirecting(307, () => foreign.url),
      { sender: makeSender(), headers: SECRETS },
    );
    const error = await rejection(transport.request(call(1)));
    expect(error).toMatchObject({ kind: "transport_error", fix: expect.stringContaining("allowCrossOriginRedirects") });
    expect(await rejection(Promise.resolve(transport.notify(notice("notifications/x"))))).toMatchObject({
      kind: "transport_error",
    });
    expect(foreign.requests).toHaveLength(0);
  });

  it("to another origin carries neither credentials nor session when it is allowed", async () => {
    const foreign = await scriptedServer((request, response) => json(response, result(request, "foreign")));
    later(() => foreign.close());
    const { transport } = await opened(
      (request, response) => {
        if (request.message?.method === "initialize") json(response, result(request), 200, { "mcp-session-id": "s" });
        else response.writeHead(307, { location: foreign.url }).end();
      },
      { sender: makeSender(), headers: SECRETS, allowCrossOriginRedirects: true },
    );
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: { "mcp-protocol-version": "2025-11-25" }, hasSessions: true });
    await expect(transport.request(call(2))).resolves.toBe("foreign");
    const headers = foreign.requests[0]?.headers ?? {};
    for (const name of [...Object.keys(SECRETS), "mcp-session-id"]) expect(headers).not.toHaveProperty(name);
    expect(headers).toMatchObject({ "content-type": "application/json", "mcp-protocol-version": "2025-11-25" });
  });

  it("that leads in a circle ends after five", async () => {
    const { server, transport } = await opened(
      (_request, response) => void response.writeHead(308, { location: "/mcp" }).end(),
      {
        sender: makeSender(),
      },
    );
    const error = await rejection(transport.request(call(1)));
    expect(error.message).toContain("more than 5");
    expect(server.requests).toHaveLength(6);
  });

  it.each(["http://user:pass@127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)", "http://", undefined])(
    "to %s is refused",
    async (location) => {
      const { transport } = await opened(
        redirecting(307, () => location),
        { sender: makeSender(), allowCrossOriginRedirects: true },
      );
      expect(await rejection(transport.request(call(1)))).toMatchObject({
        kind: "transport_error",
        data: { status: 307 },
      });
    },
  );

  it("of the standing stream is followed by any status on the same origin", async () => {
    const { server, transport } = await opened(
      (request, response) => {
        if (request.message?.id !== undefined) return json(response, result(request));
        if (request.url === "/events") response.writeHead(405).end();
        else response.writeHead(302, { location: "/events" }).end();
      },
      { sender: makeSender(), getStream: true },
    );
    await transport.request(call(1, "initialize"));
    transport.established?.({ headers: {}, hasSessions: true });
    await server.arrived(1, ({ url }) => url === "/events");
    await until(() => server.requests.length === 3);
  });
});
