// The web-standard handler in this process, as peers without another way in are measured.
import { fetchHandler } from "@parley/mcp";
import { callRequest, listRequest } from "../../packages/mcp/test/peers/programs/fetch-request.mjs";
import { answerRounds, repeat } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const [method, tools] = process.argv.slice(2);
const handler = fetchHandler(parleyServer(Number(tools)));
const make = method === "call" ? callRequest : listRequest;

answerRounds((ms) => repeat(ms, async () => (await handler(make())).text()));
