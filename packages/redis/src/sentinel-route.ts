import { createClient } from "@redis/client";
import type { ConfiguredClient, RedisNode } from "./redis-client.js";
import type { Route } from "./route.js";
import { serverRoute } from "./server-route.js";

interface Address {
  readonly host: string;
  readonly port: number;
}

/** The socket options of a client. */
interface ClientSettings {
  readonly socket?: object | undefined;
}

/** The options of `createSentinel` that the storage uses. */
export interface SentinelSettings {
  readonly name: string;
  readonly sentinelRootNodes: readonly Address[];
  readonly nodeClientOptions?: ClientSettings | undefined;
  readonly sentinelClientOptions?: ClientSettings | undefined;
  readonly nodeAddressMap?: Readonly<Record<string, Address>> | ((address: string) => Address | undefined) | undefined;
}

/**
 * Returns the options of a client made by `createSentinel`, or undefined if the options cannot be read. The client has
 * no property for them, but its method `duplicate` passes them to the constructor of `this`. This function calls
 * `duplicate` with a `this` whose constructor only records the options.
 */
export function sentinelSettings(client: ConfiguredClient): SentinelSettings | undefined {
  let captured: unknown;
  function Capture(settings: unknown): void {
    captured = settings;
  }
  try {
    client.duplicate.call(Object.create(Object.create(client, { constructor: { value: Capture } })));
  } catch {
    return undefined;
  }
  // Safe: the members that are required are checked below.
  const settings = captured as Partial<SentinelSettings> | undefined;
  const { name, sentinelRootNodes } = settings ?? {};
  return typeof name === "string" && Array.isArray(sentinelRootNodes) ? (settings as SentinelSettings) : undefined;
}

export interface SentinelRouteOptions {
  readonly settings: SentinelSettings;
  readonly connectMs: number;
  /** Adds the options that every connection of the storage has to the given socket options. */
  readonly own: (socket: object) => { readonly socket: object };
  readonly prepare: (node: RedisNode) => Promise<unknown>;
}

/** Routes to the primary that Redis Sentinel reports. Queries a Sentinel for every new connection. */
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
      // A Sentinel may report a server that was just demoted, or that is not promoted yet.
      const info = String(await node.sendCommand(["INFO", "replication"]).catch(() => ""));
      if (/^role:slave/m.test(info)) throw new Error("READONLY the server that Sentinel reports is a replica");
      await prepare(node);
    },
  });
}

/** Queries one Sentinel after the other. Rejects if none knows the primary. */
async function findPrimary(
  settings: SentinelSettings,
  connectMs: number,
  own: SentinelRouteOptions["own"],
): Promise<Address> {
  const { name, sentinelRootNodes, sentinelClientOptions } = settings;
  let failure = new Error(`no Sentinel knows the primary "${name}"`);
  for (const { host, port } of sentinelRootNodes) {
    const socket = own({ ...sentinelClientOptions?.socket, host, port });
    // Safe: a client of `@redis/client`, of which `RedisNode` declares a part.
    const sentinel = createClient({ ...sentinelClientOptions, ...socket }) as unknown as RedisNode;
    try {
      const reply = await answerWithin(connectMs, sentinel, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name]);
      if (!Array.isArray(reply)) continue;
      const found = { host: String(reply[0]), port: Number(reply[1]) };
      return mapped(`${found.host}:${found.port}`, settings) ?? found;
    } catch (error) {
      // The client rejects only with errors.
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
    timer = setTimeout(() => reject(new Error(`a Sentinel did not answer within ${ms} ms`)), ms);
  });
  const answer = client.connect().then(() => client.sendCommand(command));
  // The promise that loses the race may still reject.
  answer.catch(() => {});
  late.catch(() => {});
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
