// One client that calls a server of its own process, again and again.
import { connect, Server } from "@parley/mcp";
import { answerCommands } from "./answer-commands.js";

const IN_FLIGHT = 16;
const NONCE = { type: "object", properties: { nonce: { type: "number" } }, required: ["nonce"] } as const;

const server = new Server({ name: "soak", version: "1.0.0" }).tool(
  "echo",
  { input: NONCE },
  ({ nonce }) => `nonce ${nonce}`,
);
const client = await connect(server);
let nonce = 0;

/** Makes `count` calls and gives the number of right answers. */
async function call(count: number): Promise<number> {
  let left = count;
  let right = 0;
  const lane = async () => {
    while (left-- > 0) {
      const own = ++nonce;
      if ((await client.call("echo", { nonce: own })) === `nonce ${own}`) right++;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return right;
}

answerCommands({}, { call });
