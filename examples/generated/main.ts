import { connect, McpError } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { server } from "./server.js";
import { climateResource, getForecast, listCities, type RemoteServer, summaryPrompt } from "./weather.js";

// Functions of a generated module and methods of the client, side by side: the server sees the same requests.
const handle = await serveHttp(server, { port: 0 });
const client = await connect<RemoteServer>(handle.url);

const cities = (await listCities(client)).split(", ");
console.log(`cities   ${cities.join(" and ")}`);

// A generated function, with the options of every call.
const onProgress = ({ message }: { message?: string }) => console.log(`progress ${message}`);
const { celsius } = await getForecast(client, { city: "Oslo", days: 2 }, { onProgress });
console.log(`code     ${celsius.join(", ")}`);

// The same tool by the client's own method, which is typed too.
const direct = await client.call("get-forecast", { city: "Bergen" });
console.log(`direct   ${direct.celsius.join(", ")}`);

// Data stays in the program: only what is printed would reach a model.
const all = await Promise.all(cities.map((city) => getForecast(client, { city })));
const warmest = all.map(({ city, celsius }) => ({ city, most: Math.max(...celsius) })).sort((a, b) => b.most - a.most);
console.log(`warmest  ${warmest[0]?.city}`);

// Errors are those of the client, too.
for (const call of [() => getForecast(client, { city: "Rome" }), () => client.call("get-forecast", { city: "Rome" })]) {
  await call().catch((error: unknown) => console.log(`failed   ${McpError.is(error) ? error.kind : error}`));
}

const { messages } = await summaryPrompt(client, { city: "Oslo" });
const { contents } = await climateResource(client, { city: "Bergen" });
console.log(`others   ${messages.length} message, ${contents[0]?.uri}`);

await client.close();
await handle.close();
