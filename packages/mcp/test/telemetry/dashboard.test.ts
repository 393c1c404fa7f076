import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Server } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { prometheusMetrics } from "../../src/telemetry.js";
import { readMetrics } from "./prometheus-text.js";

const docs = new URL("../../../../docs/", import.meta.url);

it("asks only for metrics that exist, and so does the guide", async () => {
  const metrics = prometheusMetrics();
  const server = new Server({ name: "shown", version: "1.0.0" });
  server.observe(metrics);
  await using _handle = await serveHttp(server, { port: 0, metrics });
  const families = readMetrics(metrics.text());
  const exists = (name: string) => families.has(name.replace(/_(bucket|sum|count)$/, "")) || families.has(name);
  // The shape of the file is Grafana's; only the queries matter here.
  const dashboard = JSON.parse(readFileSync(new URL("observing/grafana-dashboard.json", docs), "utf8")) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const asked = new Set(queries.flatMap((expr) => expr.match(/\bmcp_\w+/g) ?? []));
  expect(asked.size).toBeGreaterThan(10);
  expect([...asked].filter((name) => !exists(name))).toEqual([]);
  const guide = readFileSync(new URL("observing.md", docs), "utf8");
  const named = new Set(guide.match(/\bmcp_\w+/g) ?? []);
  expect([...named].filter((name) => !exists(name))).toEqual([]);
  expect([...families.keys()].filter((name) => !named.has(name) && !name.startsWith("mcp_event_loop"))).toEqual([]);
});
