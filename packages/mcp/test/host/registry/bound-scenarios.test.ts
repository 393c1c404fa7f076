import { readdirSync } from "node:fs";
import { connect } from "@parley/mcp";
import { fetchHandler } from "@parley/mcp/http";
import { ServerRegistry } from "@parley/mcp/registry";
import { describe, it } from "vitest";
import { runCell } from "../../scenarios/run-cell.js";
import { exclusion, type Scenario } from "../../scenarios/scenario.js";
import { httpFetch } from "../../scenarios/transports/http-fetch.js";
import { inMemory } from "../../scenarios/transports/in-memory.js";
import type { TransportUnderTest } from "../../scenarios/transports/transport-under-test.js";

const cases = new URL("../../scenarios/cases/", import.meta.url);
const files = readdirSync(cases).filter((file) => file.endsWith(".ts"));
const scenarios = await Promise.all(
  files.map(async (file) => {
    const module = (await import(/* @vite-ignore */ new URL(file, cases).pathname)) as { default: Scenario<never> };
    return { file, one: module.default };
  }),
);

/** What serves in memory, with a name in between; for what is not tried with a replaced server. */
const byName: TransportUnderTest = {
  name: inMemory.name,
  async serve(server) {
    const registry = new ServerRegistry();
    registry.register("scenario", server());
    const binding = registry.bind("scenario");
    return { connect: (options) => connect(binding, options), close: async () => binding.unbind() };
  },
};

/** The same, where each client finds its server replaced by an equal one as soon as it is connected. */
const replaced: TransportUnderTest = {
  name: inMemory.name,
  async serve(server) {
    const registry = new ServerRegistry();
    registry.register("scenario", server());
    const binding = registry.bind("scenario");
    return {
      async connect(options) {
        const client = await connect(binding, options);
        await registry.replace("scenario", server());
        return client;
      },
      close: async () => binding.unbind(),
    };
  },
};

/** The web-standard handler of a registry, by path. */
const byPath: TransportUnderTest = {
  name: httpFetch.name,
  async serve(server) {
    const registry = new ServerRegistry();
    registry.register("scenario", server());
    const handler = registry.handler(fetchHandler);
    return {
      connect: (options) =>
        connect("http://localhost/mcp/scenario", {
          ...options,
          fetch: (url, init) => handler(new Request(url, init)),
        }),
      close: () => handler.close(),
    };
  },
};

/** What another server cannot continue: objects that it did not make, tasks and notes that it does not share. */
const STATEFUL_SERVERS = ["handlers-per-session.ts", "middleware-notifications.ts", "tasks-found-again.ts"];

describe.each([
  ["replaced", replaced],
  ["by name", byName],
  ["by path", byPath],
] as const)("every scenario %s", (how, transport) => {
  for (const era of ["stateful", "stateless"] as const) {
    for (const { file, one } of scenarios) {
      const isSpecial = STATEFUL_SERVERS.includes(file);
      if (how !== "by path" && isSpecial !== (how === "by name")) continue;
      if (exclusion(one, transport.name, era) !== undefined) continue;
      it(`${era}: ${one.name}`, () => runCell(transport, era, file, one));
    }
  }
});
