import { serveHttp } from "@parley/mcp/node";
import { listening } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";
import { parleyZod } from "./parley-zod.js";

// Rows about memory open a few sessions and streams more than the defaults admit.
const limits = { maxSessions: 20_000, maxStreams: 20_000 };
const { url } = await serveHttp(process.argv[2] === "zod" ? parleyZod() : parleyServer(), { port: 0, limits });
listening(url);
