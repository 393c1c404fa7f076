import { connect as connectSocket } from "node:net";
import { describe, expect, it } from "vitest";
import { connect, Server, ToolError } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { memoryStorage, StorageFailure } from "../../src/storage.js";
import { type Metrics, prometheusMetrics } from "../../src/telemetry.js";
import { readMetrics } from "./prometheus-text.js";

const INFO = { name: "counted", version: "1.0.0" };

function counted(metrics: Metrics): Server {
  const server = new Server(INFO, { onError: () => {} });
  server.tool("add", () => "3");
  server.tool("odd", () => {
    throw new ToolError("never");
  });
  server.tool("broken", () => {
    throw new Error("secret text");
  });
  server.observe(metrics);
  return server;
}

function value(metrics: Metrics, name: string, labels: Record<string, string> = {}): number | undefined {
  const found = [...readMetrics(metrics.text()).values()].flatMap(({ samples }) => samples);
  return found.find((one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels))?.value;
}

describe.each(["2025-11-25", "2026-07-28"] as const)("metrics for Prometheus in %s", (revision) => {
  it("count calls, errors by kind, durations and sessions", async () => {
    const metrics = prometheusMetrics();
    const server = counted(metrics);
    const client = await connect(server, { revisions: [revision], observe: metrics });
    await client.call("add");
    await client.call("add");
    await client.tryCall("odd");
    await client.tryCall("broken");
    await client.tryRequest("no/such");
    const call = { method: "tools/call", name: "add" };
    expect(value(metrics, "mcp_server_calls_total", { ...call, outcome: "ok" })).toBe(2);
    expect(value(metrics, "mcp_server_call_duration_seconds_count", call)).toBe(2);
    expect(value(metrics, "mcp_server_errors_total", { ...call, name: "odd", kind: "tool_error" })).toBe(1);
    expect(value(metrics, "mcp_server_errors_total", { ...call, name: "broken", kind: "handler_error" })).toBe(1);
    expect(value(metrics, "mcp_server_refused_total", { kind: "method_not_found" })).toBe(1);
    expect(value(metrics, "mcp_client_requests_total", { ...call, outcome: "ok" })).toBe(2);
    expect(value(metrics, "mcp_server_sessions")).toBe(1);
    expect(value(metrics, "mcp_server_calls_running")).toBe(0);
    expect(value(metrics, "mcp_client_connections")).toBe(1);
    expect(metrics.text()).not.toContain("secret");
    await client.close();
    await expect.poll(() => value(metrics, "mcp_server_sessions")).toBe(0);
    expect(value(metrics, "mcp_client_connections")).toBe(0);
    expect(value(metrics, "mcp_client_connections_lost_total")).toBe(0);
  });

  it("make no label of a name that nothing has", async () => {
    const metrics = prometheusMetrics();
    await using client = await connect(counted(metrics), { revisions: [revision] });
    for (let at = 0; at < 50; at++) await client.tryCall(`x"} evil_${at}\n`);
    const families = readMetrics(metrics.text());
    const names = new Set([...families.values()].flatMap(({ samples }) => samples.map(({ labels }) => labels["name"])));
    expect([...names].filter((name) => name?.includes("evil"))).toEqual([]);
    expect(names).toContain("_OTHER");
  });
});

describe("metrics for Prometheus", () => {
  it("say how many calls wait for a slot", async () => {
    const metrics = prometheusMetrics();
    const server = new Server(INFO);
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    server.tool("slow", { concurrency: 1 }, async () => {
      await held;
      return "done";
    });
    server.observe(metrics);
    await using client = await connect(server);
    const calls = [client.call("slow"), client.call("slow"), client.call("slow")];
    await expect.poll(() => value(metrics, "mcp_server_calls_waiting")).toBe(2);
    expect(value(metrics, "mcp_server_calls_running")).toBe(3);
    free();
    await Promise.all(calls);
    expect(value(metrics, "mcp_server_calls_waiting")).toBe(0);
  });

  it("count the failures of a storage by operation and reason, and pass them on", async () => {
    const metrics = prometheusMetrics();
    const inner = memoryStorage();
    const get = (): never => {
      throw new StorageFailure("unavailable", "The store is away.", "Start it.");
    };
    const failing = { kv: Object.assign(Object.create(inner.kv), { get }), log: inner.log, pubsub: inner.pubsub };
    const storage = metrics.storage(failing);
    expect(() => storage.kv.get("a")).toThrow("The store is away.");
    await storage.log.append("s", "e", { maxEntries: 1, maxBytes: 10, maxAgeMs: 1000 });
    const failure = { operation: "kv.get", reason: "unavailable" };
    expect(value(metrics, "mcp_storage_failures_total", failure)).toBe(1);
  });

  it("forget a server that was closed", async () => {
    const metrics = prometheusMetrics();
    const readers: unknown[] = [];
    const { gauge } = metrics;
    metrics.gauge = (...args) => {
      const remove = gauge.apply(metrics, args);
      readers.push(remove);
      return () => {
        readers.splice(readers.indexOf(remove), 1);
        remove();
      };
    };
    for (let at = 0; at < 5; at++) {
      await counted(metrics).close();
    }
    expect(readers).toEqual([]);
  });

  it("are valid OpenMetrics too, and take gauges of the application", () => {
    const metrics = prometheusMetrics();
    const remove = metrics.gauge("app_rooms", "Rooms.", () => 3);
    metrics.gauge("app_rooms", "Rooms.", () => 4);
    metrics.gauge("app_broken", "Broken.", () => Number.NaN);
    expect(readMetrics(metrics.text("openmetrics"), "openmetrics").get("app_rooms")?.samples[0]?.value).toBe(7);
    remove();
    expect(value(metrics, "app_rooms")).toBe(4);
    expect(() => metrics.gauge("a-b", "", () => 1)).toThrow("cannot be the name");
    expect(() => metrics.gauge("mcp_server_sessions", "", () => 1)).toThrow("cannot be the name");
  });
});

/** Asks as nginx does where its configuration says no more than `proxy_pass`. */
function statusOfHttp10({ hostname, port, host, pathname }: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(port), hostname, () =>
      socket.write(`GET ${pathname} HTTP/1.0\r\nHost: ${host}\r\n\r\n`),
    );
    socket.once("data", (data) => {
      socket.destroy();
      resolve(Number(String(data).split(" ")[1]));
    });
    socket.once("error", reject);
  });
}

describe("the path for metrics", () => {
  it("is off by default, and on this machine open to programs but not to other Hosts or proxies", async () => {
    await using plain = await serveHttp(new Server(INFO), { port: 0 });
    expect((await fetch(new URL("/metrics", plain.url))).status).toBe(404);
    const metrics = prometheusMetrics();
    await using handle = await serveHttp(counted(metrics), { port: 0, metrics });
    const url = new URL("/metrics", handle.url);
    const response = await fetch(url);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = readMetrics(await response.text());
    expect(families.get("mcp_event_loop_delay_p99_seconds")?.samples[0]?.value).toBeGreaterThanOrEqual(0);
    expect(families.get("mcp_http_streams")?.samples[0]?.value).toBe(0);
    const open = await fetch(url, { headers: { accept: "application/openmetrics-text;version=1.0.0" } });
    readMetrics(await open.text(), "openmetrics");
    for (const header of [
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-proto",
      "x-real-ip",
      "forwarded",
      "via",
    ]) {
      expect((await fetch(url, { headers: { [header]: "10.0.0.1" } })).status).toBe(403);
    }
    expect(await statusOfHttp10(url)).toBe(403);
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
  });

  it("asks `authenticate` where there is one", async () => {
    const metrics = prometheusMetrics();
    await using handle = await serveHttp(counted(metrics), {
      port: 0,
      metrics,
      metricsPath: "/numbers",
      authenticate: (request) => (request.header("authorization") === "Bearer s" ? { key: "p" } : { status: 401 }),
    });
    const url = new URL("/numbers", handle.url);
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers: { authorization: "Bearer s" } })).status).toBe(200);
  });
});
