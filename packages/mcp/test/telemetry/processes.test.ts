import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import * as api from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/index.js";
import { telemetry } from "../../src/telemetry.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { startSdk } from "./otel-sdk.js";

const sdk = startSdk();
const observed = telemetry(api);

interface Printed {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
}

let program: string;
beforeAll(async () => {
  program = await bundleFixture(new URL("traced-server.ts", import.meta.url));
});

const started: { kill(): void }[] = [];
afterAll(() => {
  for (const child of started) child.kill();
});

describe.each(["2025-11-25", "2026-07-28"] as const)("a trace between two processes in %s", (revision) => {
  it("is one tree: the call here is the parent of the call there", async () => {
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
    started.push(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const url = String((await lines.next()).value);
    const client = await connect(url, { revisions: [revision], observe: observed });
    await client.call("forecast");
    sdk.spans();
    await client.call("forecast");
    const here = sdk.spans().find(({ kind }) => kind === api.SpanKind.CLIENT);
    await client.close();
    child.stdin.write("\n");
    // The program's own line.
    const there = JSON.parse(String((await lines.next()).value)) as Printed[];
    const call = there.find(({ parent }) => parent !== undefined && parent === here?.spanContext().spanId);
    expect(call?.name).toBe("tools/call forecast");
    expect(call?.traceId).toBe(here?.spanContext().traceId);
    expect(there.find(({ parent }) => parent === call?.spanId)?.name).toBe("query");
  });
});
