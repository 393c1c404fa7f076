import { connect } from "@parley/mcp";
import { answerRounds, inFlight } from "../rounds.mjs";

const [url = "", kind] = process.argv.slice(2);
const client = await connect(url, kind === "fetch" ? { fetch } : {});

answerRounds((ms) => inFlight(ms, 16, () => client.call("add", { a: 1, b: 2 })));
