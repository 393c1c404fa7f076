import { connect } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { server } from "./server.js";

const say = (line: string) => console.log(line);

const handle = await serveHttp(server, { port: 0 });
say("server   one Server object is served over HTTP on a free port of this machine");

for (const revision of ["2025-11-25", "2026-07-28"] as const) {
  say(`\nclient   connects and speaks ${revision}`);
  const client = await connect<typeof server>(handle.url, {
    revisions: [revision],
    onElicit(question) {
      say(`question "${question.message}" - answered with yes`);
      return { action: "accept", content: { paid: true } };
    },
  });
  for await (const tool of client.tools()) say(`list     ${tool.name}: ${tool.description}`);
  say('call     forecast { city: "Oslo" }');
  const forecast = await client.call(
    "forecast",
    { city: "Oslo" },
    { onProgress: ({ progress, message }) => say(`progress ${progress} ${message ?? ""}`) },
  );
  say(`result   ${JSON.stringify(forecast)}`);
  if (forecast.source !== "paid") throw new Error("the answer to the question was lost");
  await client.close();
}

await handle.close();
say("\nThe same server object answered both eras of the protocol; the handler asked its question in each.");
