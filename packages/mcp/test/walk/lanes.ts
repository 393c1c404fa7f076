// The calls that are traced. Runs inside the instrumented bundle.

import { Host } from "../../src/host.js";
import { type CallOptions, type ClientOptions, connect, Server } from "../../src/index.js";
import { serveHttp } from "../../src/node.js";
import { tasks } from "../../src/tasks.js";
import type { WalkLane, WalkRevision } from "./bounds.js";
import { recorder } from "./recorder.js";
import { HANDLER } from "./trace.js";

/** A client with a server of its own, and the call that is traced. */
export interface OpenLane {
  readonly revision: string | undefined;
  call(): Promise<unknown>;
  close(): Promise<void>;
}

const CITY = { input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } as const;
const FORECAST = {
  ...CITY,
  output: { type: "object", properties: { tempC: { type: "number" } }, required: ["tempC"] },
} as const;
const SURE = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] } as const;
const INFO = { name: "weather", version: "1.0.0" };
const ARGUMENTS = { city: "Bergen" };

type Open = (revision: WalkRevision) => Promise<OpenLane>;

/** Streamable HTTP on Node, client and server in one process, an asynchronous handler. */
export const LANES: Readonly<Record<WalkLane, Open>> = {
  plain: async (revision) => {
    const server = new Server(INFO).tool("forecast", FORECAST, async ({ city }) => {
      recorder.note(HANDLER, "forecast");
      return { tempC: String(city).length };
    });
    return served(server, { revisions: [revision] });
  },
  progress: async (revision) => {
    const server = new Server(INFO).tool("forecast", FORECAST, async ({ city }, ctx) => {
      recorder.note(HANDLER, "forecast");
      ctx.progress(1);
      return { tempC: String(city).length };
    });
    return served(server, { revisions: [revision] }, { onProgress: () => {} });
  },
  elicit: async (revision) => {
    const server = new Server(INFO).tool("forecast", FORECAST, async ({ city }, ctx) => {
      recorder.note(HANDLER, "forecast");
      const { sure } = (await ctx.elicit("Sure?", SURE)) as { sure: boolean };
      return { tempC: sure ? String(city).length : 0 };
    });
    const onElicit = () => ({ action: "accept" as const, content: { sure: true } });
    return served(server, { revisions: [revision], onElicit });
  },
  gateway: async (revision) => {
    const server = new Server(INFO).tool("forecast", FORECAST, async ({ city }) => {
      recorder.note(HANDLER, "forecast");
      return { tempC: String(city).length };
    });
    const behind = await serveHttp(server, { port: 0 });
    const host = new Host({ servers: { weather: { url: behind.url } }, client: { revisions: [revision] } });
    const gateway = host.asServer({ info: { name: "gateway", version: "1.0.0" } });
    await host.start();
    const lane = await served(gateway, { revisions: [revision] }, undefined, "weather__forecast");
    return {
      ...lane,
      close: async () => {
        await lane.close();
        await host.close();
        await behind.close();
      },
    };
  },
  task: async (revision) => {
    const server = new Server(INFO, { extensions: [tasks({ pollIntervalMs: 50 })] }).tool(
      "forecast",
      { ...FORECAST, task: "required" },
      async ({ city }) => {
        recorder.note(HANDLER, "forecast");
        return { tempC: String(city).length };
      },
    );
    return served(server, { revisions: [revision], extensions: [tasks()] });
  },
};

async function served(
  server: Server,
  options: ClientOptions,
  callOptions?: CallOptions,
  tool = "forecast",
): Promise<OpenLane> {
  const serving = await serveHttp(server, { port: 0 });
  const client = await connect(serving.url, options);
  await client.allTools();
  return {
    revision: client.protocolVersion,
    call: () => client.call(tool, ARGUMENTS, callOptions),
    close: async () => {
      await client.close();
      await serving.close();
    },
  };
}
