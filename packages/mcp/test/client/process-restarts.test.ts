import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type McpError } from "@parley/mcp";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../http-client/virtual-time.js";
import { bundleFixture } from "../stdio/bundle-fixture.js";
import { STATEFUL, STATELESS } from "./scripted-pipe.js";

const RESTARTS = 5;
const CALLERS = 20;
const folder = mkdtempSync(join(tmpdir(), "parley-restarts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const revision of [STATEFUL, STATELESS] as const) {
  describe(`a real process that is killed ${RESTARTS} times under ${CALLERS} callers, ${revision}`, () => {
    it("every call has one outcome, none runs twice, idempotent ones succeed, and each restart costs one handshake", async () => {
      const log = join(folder, revision);
      writeFileSync(log, "");
      const lines = (word: string) =>
        readFileSync(log, "utf8")
          .split("\n")
          .filter((line) => line.startsWith(word));
      const program = await bundleFixture(new URL("./fixtures/mortal-server.ts", import.meta.url));
      const client = await connect({ command: process.execPath, args: [program, log, revision] });
      let recovered = 0;
      client.on("session.recovered", () => recovered++);
      let over = false;
      const outcomes = { done: 0, lost: 0, read: 0 };
      const caller = async (own: number) => {
        for (let round = 0; !over; round++) {
          if (own % 2 === 0) {
            await client.callTool("work", { key: `${own}/${round}` }).then(
              () => outcomes.done++,
              (error: McpError) => {
                expect(error.kind).toMatch(/^(connection_closed|connect_failed)$/);
                outcomes.lost++;
              },
            );
          } else {
            await client.readResource("file:///a");
            outcomes.read++;
          }
        }
      };
      const callers = Array.from({ length: CALLERS }, (_, own) => caller(own));
      for (let restart = 1; restart <= RESTARTS; restart++) {
        const before = outcomes.done + outcomes.read;
        await until(() => outcomes.done + outcomes.read > before + 50);
        process.kill(Number(lines("start").at(-1)?.split(" ")[1]), "SIGKILL");
        await until(() => recovered === restart, 10_000);
      }
      over = true;
      await Promise.all(callers);
      const runs = lines("run");
      expect(new Set(runs).size).toBe(runs.length);
      expect(lines("start")).toHaveLength(RESTARTS + 1);
      expect(outcomes.lost).toBeGreaterThanOrEqual(RESTARTS);
      expect(outcomes.lost).toBeLessThanOrEqual(RESTARTS * (CALLERS / 2));
      await client.close();
    }, 240_000);
  });
}
