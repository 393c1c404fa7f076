import { Server } from "@parley/mcp";
import { expect } from "vitest";
import { scenario } from "../scenario.js";

const OWN_CLIENT = "the client of the server behind it is the gateway";

export default scenario({
  name: "a client says who it is, and declares capabilities that no option implies",
  server: () =>
    new Server({ name: "s", version: "1" }).tool("who", {}, (_args, ctx) =>
      JSON.stringify({ info: ctx.client.info, experimental: ctx.client.can("experimental.acme/x") }),
    ),
  except: { "gateway-stateful": OWN_CLIENT, "gateway-stateless": OWN_CLIENT },
  async run({ connect }) {
    const more = {
      description: "Reads",
      websiteUrl: "https://reader.example",
      icons: [{ src: "data:image/png;base64,AA==" }],
    };
    const client = await connect({
      ...{ name: "reader", version: "2", title: "Reader", ...more },
      capabilities: { experimental: { "acme/x": {} } },
    });
    const { info, experimental } = JSON.parse(String(await client.call("who")));
    expect(info).toEqual({ name: "reader", version: "2", title: "Reader", ...more });
    expect(experimental).toBe(true);
  },
});
