import { createClient } from "@redis/client";
import type { ConfiguredClient, RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";
import { serverRoute } from "./server-route.js";

interface Address {
  readonly host: string;
  readonly port: number;
}

/** The part of the settings of a client that concerns its socket. */
interface ClientSettings {
  readonly socket?: object | undefined;
}

/** The settings of `createSentinel`, as far as the storage uses them. */
export interface SentinelSettings {
  readonly name: string;
  readonly sentinelRootNodes: readonly Address[];
  readonly nodeClientOptions?: ClientSettings | undefined;
  readonly sentinelClientOptions?: ClientSettings | undefined;
  readonly nodeAddressMap?: Readonly<Record<string, Address>> | ((address: string) => Address | undefined) | undefined;
}

/**
 * The settings of a client that `createSentinel` has made; undefined if it does not give them. It has no member for them, but
 * `duplicate` passes them to the constructor of its object: here one that only notes them.
 */
export function sentinelSettings(client: ConfiguredClient): SentinelSettings | undefined {
  let noted: unknown;
  function Note(settings: unknown): void {
    noted = settings;
  }
  try {
    client.duplicate.call(Object.create(Object.create(client, { constructor: { value: Note } })));
  } catch {
    return undefined;
  }
  // Checked in the next line, as far as it is used.
  const settings = noted as Partial<SentinelSettings> | undefined;
  const { name, sentinelRootNodes } = settings ?? {};
  return typeof name === "string" && Array.isArray(sentinelRootNodes) ? (settings as SentinelSettings) : undefined;
}

export interface SentinelRouteOptions {
  readonly settings: SentinelSettings;
  readonly connectMs: number;
  /** The settings of every connection of the storage, given those of its socket. */
  readonly own: (socket: object) => { readonly socket: object };
  readonly prepare: (node: RedisNode) => Promise<unknown>;
}

/** The way to the primary that Redis Sentinel names; it is asked again for every connection. */
export function sentinelRoute({ settings, connectMs, own, prepare }: SentinelRouteOptions): Route {
  const { name, nodeClientOptions } = settings;
  return serverRoute({
    place: `the primary "${name}"`,
    connectMs,
    async make() {
      const primary = await findPrimary(settings, connectMs, own);
      const socket = own({ ...nodeClientOptions?.socket, ...primary });
      return createClient({ ...nodeClientOptions, ...socket }) as unknown as RedisNode;
    },
    async prepare(node) {
      // Sentinels may name a server that has just been demoted, or is not promoted yet.
      const info = String(await node.sendCommand(["INFO", "replication"]).catch(() => ""));
      if (/^role:slave/m.test(info)) throw new Error("READONLY the server that Sentinel names is a replica");
      await prepare(node);
    },
  });
}

/** Asks one Sentinel after the other. Rejects if none knows the primary. */
async function findPrimary(
  settings: SentinelSettings,
  connectMs: number,
  own: SentinelRouteOptions["own"],
): Promise<Address> {
  const { name, sentinelRootNodes, sentinelClientOptions } = settings;
  let failure = new Error(`no Sentinel knows the primary "${name}"`);
  for (const { host, port } of sentinelRootNodes) {
    const socket = own({ ...sentinelClientOptions?.socket, host, port });
    // A client of `@redis/client`, of which this uses a part.
    const sentinel = createClient({ ...sentinelClientOptions, ...socket }) as unknown as RedisNode;
    try {
      const reply = await answerWithin(connectMs, sentinel, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]);
      if (!Array.isArray(reply)) continue;
      const found = { host: String(reply[0]), port: Number(reply[1]) };
      return mapped(`${found.host}:${found.port}`, settings) ?? found;
    } catch (error) {
      // Clients reject with errors only.
      failure = error as Error;
    } finally {
      sentinel.destroy();
    }
  }
  throw failure;
}

function mapped(address: string, { nodeAddressMap: map }: SentinelSettings): Address | undefined {
  return typeof map === "function" ? map(address) : map?.[address];
}

async function answerWithin(ms: number, client: RedisNode, command: readonly string[]): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    client.on("error", (error: Error) => reject(error));
    timer = setTimeout(() => reject(new Error(`a Sentinel has not answered within ${ms} ms`)), ms);
  });
  const answer = client.connect().then(() => client.sendCommand(command));
  // The one that loses the race may still reject.
  answer.catch(() => {});
  late.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
