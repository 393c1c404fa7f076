import { resourceServer } from "@parley/mcp/auth";
import { serveHttp } from "@parley/mcp/node";
import { listening } from "../rounds.mjs";
import { parleyServer } from "./parley-server.js";
import { ISSUER, KEYS, RESOURCE } from "./protected-token.js";

// The keys come from memory, because what is measured is a token that was verified before.
const platform = { fetch: async () => Response.json(KEYS) };
const issuer = [{ issuer: ISSUER, jwksUri: `${ISSUER}/jwks` }];
const auth = resourceServer({ resource: RESOURCE, issuer, scopes: ["read"], platform });
const { url } = await serveHttp(parleyServer(), { port: 0, auth });
listening(url);
