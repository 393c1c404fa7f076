import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeSender } from "@parley/mcp/node";
import { Redactor } from "@parley/mcp/recording";
import { describe, expect, it, onTestFinished } from "vitest";
import { urlTarget } from "../../src/connections/connection-actions.js";
import { type ExchangeFollower, followExchanges } from "../../src/connections/follow-exchanges.js";
import {
  MAX_BODY_LENGTH,
  redactBody,
  redactHeaders,
  type SendResponse,
} from "../../src/connections/redact-exchange.js";

const redactor = new Redactor({ values: ["of-the-target"] });

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // Listening on a port, so the address is no path.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Sends one request, and notes what its follower is told. */
function send(url: string, withBody: boolean) {
  const told: string[] = [];
  const follower: ExchangeFollower = {
    onResponse: ({ status }) => told.push(`responded ${status}`),
    onFailure: () => told.push("failed"),
    ...(withBody ? { onBody: (text) => told.push(`body ${text}`) } : {}),
  };
  const response = new Promise<SendResponse>((resolve, reject) => {
    const cancel = followExchanges(nodeSender(), () => follower)(
      { method: "GET", url, headers: [] },
      resolve,
      (error) => {
        cancel(new Error("given up"));
        reject(error);
      },
    );
  });
  return { told, response };
}

describe("what is shown of an exchange", () => {
  it("has no credentials in its headers, but their scheme", () => {
    const headers = [
      ["authorization", "Bearer abc"],
      ["proxy-authorization", "Basic abc"],
      ["cookie", "a=b"],
      ["set-cookie", "a=b"],
      ["mcp-session-id", "abc"],
      ["dpop", "abc"],
      ["x-api-key", "abc"],
      ["x-access-token", "abc"],
      ["x-plain", "it is of-the-target, that"],
      ["accept", "application/json"],
    ] as const;
    expect(redactHeaders(headers, redactor)).toEqual({
      authorization: "Bearer [redacted]",
      "proxy-authorization": "Basic [redacted]",
      cookie: "[redacted]",
      "set-cookie": "[redacted]",
      "mcp-session-id": "[redacted]",
      dpop: "[redacted]",
      "x-api-key": "[redacted]",
      "x-access-token": "[redacted]",
      "x-plain": "it is [redacted], that",
      accept: "application/json",
    });
  });

  it("has bounded headers", () => {
    const many = Array.from({ length: 1_000 }, (_, at) => [`x-${at}`, "y".repeat(100_000)] as const);
    expect(JSON.stringify(redactHeaders(many, redactor)).length).toBeLessThan(1_000_000);
  });

  it("has no secrets of OAuth in its forms and documents", () => {
    const form = new URLSearchParams({
      grant_type: "authorization_code",
      code: "abc1",
      code_verifier: "abc2",
      refresh_token: "abc3",
      client_secret: "abc4",
      client_assertion: "abc5",
      device_code: "abc6",
      redirect_uri: "http://127.0.0.1:1/callback",
    });
    const shown = redactBody(form.toString(), redactor);
    expect(shown).not.toMatch(/abc\d/);
    expect(shown).toContain("redirect_uri=http://127.0.0.1:1/callback");
    const document = {
      access_token: "abc1",
      refresh_token: "abc2",
      client_secret: "abc3",
      id_token: "abc4",
      scope: "read",
    };
    const read = redactBody(
      JSON.stringify({ ...document, registration_access_token: "abc5", list: [document] }),
      redactor,
    );
    expect(read).not.toMatch(/abc\d/);
    expect(JSON.parse(read)).toMatchObject({ scope: "read" });
    expect(redactBody("<html>of-the-target", redactor)).toBe("<html>[redacted]");
    expect(redactBody("x".repeat(1_000_000), redactor).length).toBeLessThanOrEqual(MAX_BODY_LENGTH + 1);
  });
});

describe("a watched sender", () => {
  it.each(["text", "chunks"] as const)("passes a body on while it is kept, read by %s", async (way) => {
    const url = await serve((_, response) => response.end("hällo"));
    const { told, response } = send(url, true);
    const answer = await response;
    expect(answer.headers?.()["content-length"]).toBe("6");
    let text = "";
    if (way === "text") text = await answer.text(100);
    else for await (const chunk of answer.chunks()) text += Buffer.from(chunk).toString();
    expect(text).toBe("hällo");
    expect(told).toEqual(["responded 200", "body hällo"]);
  });

  it("keeps the beginning of a long body only", async () => {
    const url = await serve((_, response) => response.end("x".repeat(1_000_000)));
    const { told, response } = send(url, true);
    let length = 0;
    for await (const chunk of (await response).chunks()) length += chunk.length;
    expect(length).toBe(1_000_000);
    expect(told[1]?.length).toBeLessThan(MAX_BODY_LENGTH * 3);
  });

  it("tells of one failure, whatever follows it", async () => {
    const url = await serve((request) => request.socket.destroy());
    const { told, response } = send(url, false);
    await expect(response).rejects.toThrow();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(["failed"]);
  });
});

describe("the target of an address", () => {
  it("knows its secrets, with and without their scheme", () => {
    const { secrets, authorized, shown } = urlTarget({
      url: "https://example.com/mcp?token=in-the-query",
      headers: { Authorization: "Bearer in-the-header", "x-tenant": "blue" },
    });
    expect(secrets).toEqual(["in-the-query", "Bearer in-the-header", "in-the-header"]);
    expect([authorized, shown]).toEqual([true, "https://example.com/mcp?token=[redacted]"]);
  });
});
