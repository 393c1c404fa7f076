import { serveHttp } from "@parley/mcp/node";
import { listening } from "../rounds.mjs";
import { parleyServer, parleySteps } from "./parley-server.js";
import { parleyZod } from "./parley-zod.js";

// Rows about memory open a few sessions and streams more than the defaults admit.
const limits = { maxSessions: 20_000, maxStreams: 20_000 };
const servers = { zod: parleyZod, steps: parleySteps, plain: parleyServer };
const server = servers[(process.argv[2] ?? "plain") as keyof typeof servers]();
const { url } = await serveHttp(server, { port: 0, limits });
listening(url);
