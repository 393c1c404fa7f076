// The certified authorization server `oidc-provider` with its own login and consent pages, on the port in PORT.
//
// Usage: node oidc-provider.mjs '{"accessTokenTTL": 300, "clients": []}'
import { createServer } from "node:http";
import { endWithParent } from "./interop-listen.mjs";

// The one thing that it needs of a newer Node than 20.
URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null);
const { default: Provider } = await import("oidc-provider");

const { accessTokenTTL = 300, clients = [] } = JSON.parse(process.argv[2] ?? "{}");
const port = Number(process.env.PORT);
const events = [];

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients,
  cookies: { keys: ["a key for the cookies of tests"] },
  scopes: ["openid", "offline_access", "basic", "shop:buy"],
  claims: { openid: ["sub"] },
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => ({
        scope: "basic shop:buy",
        audience: resource,
        accessTokenTTL,
        accessTokenFormat: "jwt",
      }),
    },
  },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
});

const EVENTS = [
  "authorization.success",
  "registration_create.success",
  "grant.success",
  "grant.error",
  "grant.revoked",
];
for (const name of EVENTS) {
  provider.on(name, (ctx, extra) => {
    const error = extra instanceof Error ? extra.message : undefined;
    events.push({ name, grant: ctx.oidc?.params?.grant_type, scope: ctx.oidc?.params?.scope, error });
  });
}
provider.on("refresh_token.destroyed", () => events.push({ name: "refresh_token.destroyed" }));
provider.on("server_error", (_ctx, error) => console.error(error));

const serve = provider.callback();
const server = createServer((request, response) => {
  if (request.url === "/events") response.end(JSON.stringify(events));
  else serve(request, response);
});
server.listen(port, "127.0.0.1", () => console.log(`port ${port}`));
endWithParent();
