import { expect, it } from "vitest";
import type { HttpRequest } from "../../../http/http.js";
import { requestLogEntry } from "./request-log.js";

it("A log entry holds no credential (SEC-15)", () => {
  const headers = {
    authorization: "Bearer canary",
    cookie: "a=canary",
    "mcp-session-id": "canary",
    "last-event-id": "canary",
    "x-api-key": "canary",
    "x-auth-token": "canary",
    "proxy-authorization": "canary",
    accept: "application/json",
  };
  const request: HttpRequest = {
    method: "POST",
    path: "/mcp?access_token=canary",
    header: () => undefined,
    headerCount: () => 0,
    headers: () => ({ ...headers }),
    remoteAddress: "127.0.0.1",
  };
  const entry = requestLogEntry(request, { key: "canary", subject: "ada", clientId: "app" }, 200, 5);
  expect(JSON.stringify([entry, entry.headers()])).not.toContain("canary");
  expect(entry).toMatchObject({
    method: "POST",
    path: "/mcp",
    status: 200,
    durationMs: 5,
    subject: "ada",
    clientId: "app",
  });
  expect(entry.headers()).toMatchObject({ accept: "application/json", authorization: "[redacted]" });
});
