import { connect, Server } from "@parley/mcp";
import { type ListeningHandle, serveHttp, serveSocket } from "@parley/mcp/node";
import { type ChildExit, type SupervisionEvent, type Supervisor, superviseApplication } from "@parley/mcp/supervision";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../free-port.js";
import { madeChild } from "./made-child.js";

const open: Supervisor[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** A server that counts, so that a restart shows. */
function counter(): Server {
  let count = 0;
  return new Server({ name: "counter", version: "1.0.0" }).tool("count", {}, () => String(++count));
}

/** An application with a real server on two real transports, and made children in the other tiers. */
async function application(restarts = 5) {
  const log: string[] = [];
  const events: SupervisionEvent[] = [];
  const [httpPort, socketPort] = [await freePort(), await freePort()];
  const metrics = madeChild("metrics", log);
  let endServer: (exit: ChildExit) => void = () => {};
  const server = () => app.child("servers", "counter") as Server;
  const app: Supervisor = superviseApplication({
    name: "app",
    registry: [madeChild("registry", log).spec],
    infrastructure: [madeChild("storage", log).spec],
    servers: [
      {
        id: "counter",
        start: counter,
        ended: () =>
          new Promise((resolve) => {
            endServer = resolve;
          }),
      },
    ],
    transports: [
      { id: "http", start: () => serveHttp(server(), { port: httpPort }) },
      { id: "socket", start: () => serveSocket(server(), { port: socketPort }) },
    ],
    observability: [metrics.spec],
    intensity: { restarts },
    backOff: { firstMs: 1, longestMs: 1, jitter: 0 },
    onEvent: (event) => events.push(event),
  });
  open.push(app);
  await app.start();
  await until(() => metrics.living.size === 1);
  const http = () => app.child("transports", "http") as ListeningHandle | undefined;
  /** How often a child was started. */
  const starts = (path: string) =>
    events.filter(
      (event) => event.type === "child" && event.event === "start" && `${event.supervisor}/${event.child}` === path,
    ).length;
  const crashServer = async () => {
    const before = starts("app/servers/counter");
    endServer({ normal: false, reason: "boom" });
    await until(() => starts("app/servers/counter") > before && server() !== undefined);
  };
  return { app, log, metrics, http, starts, crashServer, url: `http://127.0.0.1:${httpPort}/mcp` };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

async function countOver(url: string): Promise<unknown> {
  const client = await connect(url);
  try {
    return await client.call("count");
  } finally {
    await client.close();
  }
}

describe("an application in five tiers", () => {
  it("starts tier after tier, and stops in reverse", async () => {
    const { app, log, url } = await application();
    expect(app.tree().children.map(({ id, state }) => `${id} ${state}`)).toEqual([
      "registry running",
      "infrastructure running",
      "servers running",
      "transports running",
      "observability running",
    ]);
    expect(await countOver(url)).toBe("1");
    await app.close();
    expect(log).toEqual(["+registry", "+storage", "+metrics", "-metrics", "-storage", "-registry"]);
  });

  it("keeps the state of servers when a transport ends", async () => {
    const { http, starts, url } = await application();
    expect(await countOver(url)).toBe("1");
    const first = http();
    await first?.close();
    await until(() => http() !== undefined && http() !== first);
    expect(await countOver(url)).toBe("2");
    expect(starts("app/servers/counter")).toBe(1);
    expect(starts("app/transports/socket")).toBe(1);
  });

  it("keeps the state of servers when all transports fail too often", async () => {
    const { http, starts, url } = await application(1);
    expect(await countOver(url)).toBe("1");
    const tier = starts("app/transports");
    for (let round = 0; round < 2; round++) {
      const current = http();
      await current?.close();
      await until(() => http() !== undefined && http() !== current);
    }
    expect(starts("app/transports")).toBe(tier + 1);
    await until(() => http() !== undefined);
    expect(await countOver(url)).toBe("2");
    expect(starts("app/servers")).toBe(1);
  });

  it("answers every call while observability ends again and again, until it is held", async () => {
    const { app, metrics, url } = await application(2);
    const client = await connect(url);
    let calling = true;
    const observability = () => app.children().find(({ id }) => id === "observability")?.state;
    const dying = (async () => {
      while (observability() !== "failed") {
        if (metrics.living.size > 0) metrics.crash();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      calling = false;
    })();
    const answers: unknown[] = [];
    while (calling) answers.push(await client.call("count"));
    await dying;
    answers.push(await client.call("count"));
    await client.close();
    expect(answers).toEqual(answers.map((_, at) => String(at + 1)));
    expect(app.state).toBe("running");
  });

  it("restarts transports with the servers that fail too often, and nothing before them", async () => {
    const { crashServer, starts, log, http } = await application(1);
    const before = http();
    await crashServer();
    expect(http()).toBe(before);
    await crashServer();
    await until(() => http() !== undefined && http() !== before);
    expect([starts("app/servers"), starts("app/transports")]).toEqual([2, 2]);
    expect([starts("app/registry"), starts("app/infrastructure")]).toEqual([1, 1]);
    expect(log.filter((entry) => /registry|storage/.test(entry))).toEqual(["+registry", "+storage"]);
  });

  it("refuses an option that it does not have", () => {
    expect(() => superviseApplication({ server: [] } as never)).toThrow('did you mean "servers"');
  });
});
