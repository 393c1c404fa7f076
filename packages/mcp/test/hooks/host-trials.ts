import { connect } from "@parley/mcp";
import { Host, type HostOptions } from "@parley/mcp/host";
import { enforceLock, lockOf, readLock, writeLock } from "@parley/mcp/lock";
import { add, emptyServer, outcome, plainServer, type Trial, withClient } from "./trial.js";

/** How a call through a host with these options ends. */
function hosting(options: (fail: Parameters<Trial>[0]) => HostOptions, use?: (host: Host) => unknown): Trial {
  return (fail) =>
    outcome(async () => {
      const host = new Host({ servers: { a: plainServer() }, ...options(fail) });
      try {
        await host.start();
        return await (use ?? ((started: Host) => started.callTool("a__add")))(host);
      } finally {
        await host.close();
      }
    });
}

const listening: Trial = (fail) =>
  outcome(async () => {
    const host = new Host({ servers: { a: plainServer() } });
    host.on("any", fail);
    await host.start();
    const result = await host.callTool("a__add");
    await host.close();
    return result;
  });

/** The lock of a server that had nothing when it was locked. */
const lockOfNothing = async () => {
  const client = await connect(emptyServer());
  return lockOf(client).finally(() => client.close());
};

const locked: Trial = (fail) =>
  withClient(plainServer(), {}, async (client) => {
    await enforceLock(client, await lockOfNothing(), { onDrift: fail });
    return add(client);
  });

/** Functions of hosts whose result nobody waits for. */
export const HOST_HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  "Host.on(listener)": listening,
  "HostOptions.onEvent": hosting((onEvent) => ({ onEvent })),
  "CatalogueStore.save": hosting((save) => ({ catalogue: { load: () => undefined, save } })),
  "CatalogueStore.load": hosting((load) => ({ catalogue: { load, save: () => {} } })),
};

/** Functions of hosts that somebody waits for. */
export const HOST_ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  // The tool is hidden.
  "HostOptions.transform": [hosting((transform) => ({ transform })), "error invalid_params"],
  // What differs from the lock is refused.
  "EnforceLockOptions.onDrift": [locked, "error declined"],
  "HostOptions.onDrift": [
    async (fail) => {
      const locks = readLock(writeLock({ a: await lockOfNothing() }));
      return hosting((onDrift) => ({ onDrift, locks }))(fail);
    },
    "error declined",
  ],
  "HostOptions.auth": [
    hosting((auth) => ({ auth, servers: { a: { url: "http://127.0.0.1:9/mcp" } } })),
    "error invalid_definition",
  ],
};
