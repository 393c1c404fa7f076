import { connect } from "@parley/mcp";
import { answerRounds, repeat } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const client = await connect(parleyServer(Number(process.argv[2] ?? 1)));

answerRounds((ms) => repeat(ms, () => client.call("add", { a: 1, b: 2 })));
