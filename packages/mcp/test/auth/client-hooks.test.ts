import {
  bearerToken,
  memoryTokenStore,
  type OAuthOptions,
  oauth,
  redirectLogin,
  type TokenStore,
} from "@parley/mcp/auth";
import { browserLogin } from "@parley/mcp/login";
import { ResponseBodyError } from "oauth4webapi";
import { describe, expect, it } from "vitest";
import { attempt, ClientTarget, open } from "./client-target.js";

const redirectUri = "http://127.0.0.1:1/callback";
const failingStore = (member: keyof TokenStore, fail: () => never): TokenStore => ({
  ...memoryTokenStore(),
  [member]: fail,
});

/** Each function of a program that a login calls. */
const HOOKS: Record<string, (fail: () => never) => OAuthOptions> = {
  open: (fail) => ({ login: browserLogin({ open: fail }) }),
  visit: (fail) => ({ login: redirectLogin({ redirectUri, visit: fail }) }),
  begin: (fail) => ({ login: { kind: "redirect", applicationType: "native", begin: fail } }),
  chooseClient: (fail) => ({ registration: false, chooseClient: fail }),
  chooseServer: (fail) => ({ chooseServer: fail }),
  parameters: (fail) => ({ grant: { client: { clientId: "c" }, grantType: "own", parameters: fail } }),
  "store.get": (fail) => ({ store: failingStore("get", fail) }),
  "store.set": (fail) => ({ store: failingStore("set", fail) }),
  "store.lock": (fail) => ({ store: failingStore("lock", fail) }),
};

describe("a function of the program that fails during a login", () => {
  it.each(Object.keys(HOOKS))("is named, with its own error as the cause: %s", async (name) => {
    const target = await ClientTarget.start();
    const own = new Error("no window\nhere");
    const options = HOOKS[name]?.(() => {
      throw own;
    });
    const { error } = await attempt(target, { oauth: options ?? {} });
    expect(error).toMatchObject({
      kind: "authorization_failed",
      message: `\`${name}\` failed: no window\\nhere`,
      data: { hook: name, steps: [{ step: name, outcome: "no window\\nhere" }] },
    });
    expect((error as Error).cause).toBe(own);
  });

  it.each(Object.keys(HOOKS).filter((name) => name !== "parameters"))(
    "shows no response that an error of a library holds: %s",
    async (name) => {
      const target = await ClientTarget.start();
      const response = new Response("{}");
      const body = new ResponseBodyError("refused", { cause: { error: "no", canary: "canary-1" }, response });
      const options = HOOKS[name]?.(() => {
        throw new Error("failed", { cause: body });
      });
      const { error } = await attempt(target, { oauth: options ?? {} });
      expect(error).toMatchObject({ kind: "authorization_failed", data: { hook: name } });
      expect((error as Error).cause).toBeUndefined();
      expect(JSON.stringify(error)).not.toContain("canary");
    },
  );

  it("is named for a token that comes from elsewhere", async () => {
    const target = await ClientTarget.start();
    const auth = bearerToken(() => Promise.reject(new Error("no vault")));
    const { error } = await attempt(target, { connect: { auth } });
    expect(error).toMatchObject({ kind: "authorization_failed", message: "`token` failed: no vault" });
  });

  it("is asked again by the next request, if it is the store", async () => {
    const target = await ClientTarget.start();
    const store = memoryTokenStore();
    let failures = 1;
    const flaky: TokenStore = {
      ...store,
      get(key) {
        if (failures-- > 0) throw new Error("disk");
        return store.get(key);
      },
    };
    const auth = oauth({ login: target.issuer.login(), store: flaky });
    const first = await attempt(target, { connect: { auth } });
    expect(first.error).toMatchObject({ message: "`store.get` failed: disk" });
    const { client } = await open(target, { connect: { auth } });
    expect(await client.call("who")).toBeDefined();
  });

  it("is not blamed for what fails while the store is locked", async () => {
    const target = await ClientTarget.start();
    const store: TokenStore = { ...memoryTokenStore(), lock: (_key, work) => work() };
    const login = redirectLogin({ redirectUri, visit: () => Promise.reject(new Error("closed")) });
    const { error } = await attempt(target, { oauth: { store, login } });
    expect(error).toMatchObject({ message: "`visit` failed: closed" });
  });
});
