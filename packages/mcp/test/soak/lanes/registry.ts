import { type Client, connect, Server } from "@parley/mcp";
import { ServerRegistry } from "@parley/mcp/registry";
import { atMost, exactly, type Lane, scaled } from "../lane.js";
import { MEGABYTE, memoryAfterCollection } from "../memory.js";

const SERVERS = 100;

export const registry: Lane = {
  name: "registry",
  what: "1,000 times 100 servers registered, called, replaced and unregistered, with clients that stay",
  async run({ scale, say }) {
    const cycles = scaled(1000, scale);
    const names = new ServerRegistry();
    let events = 0;
    names.on(() => void events++);
    names.register("stays", numbered(0));
    const client = await connect(names.bind("stays"));
    let right = 0;
    const warmUp = Math.ceil(cycles / 10);
    for (let cycle = 0; cycle < warmUp; cycle++) right += await runCycle(names, client, cycle);
    const { heap: before } = await memoryAfterCollection();
    for (let cycle = warmUp; cycle < cycles; cycle++) {
      right += await runCycle(names, client, cycle);
      if (cycle % 100 === 0) say(`cycle ${cycle}`);
    }
    const { heap: after } = await memoryAfterCollection();
    const left = names.size;
    await client.close();
    return {
      size: { cycles, servers: SERVERS },
      measures: [
        exactly("right answers", right, cycles * 2),
        exactly("events", events, 1 + cycles * (2 * SERVERS + 1)),
        exactly("servers left", left, 1),
        atMost("memory", "heap growth", (after - before) / MEGABYTE, 5, "MB"),
      ],
    };
  },
};

/** Says how many of its two calls were answered by the server that had the name. */
async function runCycle(names: ServerRegistry, client: Client, cycle: number): Promise<number> {
  for (let index = 0; index < SERVERS; index++) names.register(`guest-${index}`, numbered(index));
  const guest = cycle % SERVERS;
  const binding = names.bind(`guest-${guest}`);
  const visitor = await connect(binding);
  const isGuest = (await numberOf(visitor)) === guest;
  await visitor.close();
  binding.unbind();
  await names.replace("stays", numbered(cycle));
  const isNew = (await numberOf(client)) === cycle;
  for (let index = 0; index < SERVERS; index++) names.unregister(`guest-${index}`);
  return Number(isGuest) + Number(isNew);
}

function numbered(number: number): Server {
  return new Server({ name: "numbered", version: "1.0.0" }).tool("number", {}, () =>
    String(number),
  ) as unknown as Server;
}

async function numberOf(client: Client): Promise<number> {
  const [block] = (await client.callTool("number")).content;
  return block?.type === "text" ? Number(block.text) : Number.NaN;
}
