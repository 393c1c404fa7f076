import { connect } from "@parley/mcp";
import { oauth } from "@parley/mcp/auth";
import { fileTokenStore } from "@parley/mcp/login";

/** Makes twenty calls at once with the tokens of a file, and prints how many succeeded. It cannot log in. */
const [url = "", file = ""] = process.argv.slice(2);
const client = await connect(url, { revisions: ["2026-07-28"], auth: oauth({ store: fileTokenStore(file) }) });
const results = await Promise.allSettled(Array.from({ length: 20 }, () => client.call("who")));
await client.close();
console.log(results.filter(({ status }) => status === "fulfilled").length);
