import { Server } from "@parley/mcp";
import { serveHttp } from "@parley/mcp/node";
import { z } from "zod";
import { listening } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";

const withZod = () =>
  new Server({ name: "bench", version: "1.0.0" }).tool(
    "add",
    { description: "Adds two numbers", input: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => String(a + b),
  );

// Rows about memory open a few sessions and streams more than the defaults admit.
const limits = { maxSessions: 20_000, maxStreams: 20_000 };
const { url } = await serveHttp(process.argv[2] === "zod" ? withZod() : parleyServer(), { port: 0, limits });
listening(url);
