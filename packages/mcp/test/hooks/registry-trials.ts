import { fetchHandler } from "@parley/mcp/http";
import { ServerRegistry } from "@parley/mcp/registry";
import { add, plainServer, type Trial, withClient } from "./trial.js";

const listening: Trial = (fail) => {
  const registry = new ServerRegistry();
  registry.on(fail);
  registry.register("a", plainServer());
  return withClient(registry.bind("a"), {}, add);
};

/** Two servers behind one handler, of which the options of one fail; says how a call of that one ends. */
const optionsOfOne: Trial = async (fail) => {
  const registry = new ServerRegistry();
  registry.register("a", plainServer());
  registry.register("b", plainServer());
  const handler = registry.handler(fetchHandler, { http: (name) => (name === "a" ? fail() : {}) });
  const call = (name: string) =>
    withClient(`http://localhost/mcp/${name}`, { fetch: (url, init) => handler(new Request(url, init)) }, add);
  const other = await call("b");
  const ended = await call("a");
  await handler.close();
  return other === "fine" ? ended : `the other: ${other}`;
};

/** Functions of registries whose result nobody waits for. */
export const REGISTRY_HOOK_TRIALS: Readonly<Record<string, Trial>> = { "ServerRegistry.on(listener)": listening };

/** Functions of registries that somebody waits for. */
export const REGISTRY_ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "RegistryHttpOptions.http": [optionsOfOne, "error transport_error"],
};
