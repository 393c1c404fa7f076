import { serveStdio } from "@parley/mcp/node";
import { isRevision } from "../../src/protocol/revisions.js";
import { ourServer } from "./our-server.js";

const revision = process.argv[2];
if (!isRevision(revision)) throw new Error(`not a revision: ${revision}`);
await serveStdio(ourServer(revision));
