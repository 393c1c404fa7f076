import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ProxyUnderAttack } from "./proxy-under-attack.js";
import { TestIssuer } from "./test-issuer.js";

let proxy: ProxyUnderAttack;
let provider: TestIssuer;
let client = "";
/** Nodes of one deployment; the provider ends a login whose refresh token comes twice. */
let nodes: number[] = [];
beforeAll(async () => {
  proxy = await ProxyUnderAttack.start();
  provider = await TestIssuer.start({ rotates: true });
  nodes = [0, 1, 2].map(() => addNode());
  client = await proxy.register();
});
afterAll(async () => {
  provider.close();
  await proxy.close();
});

function addNode(options: Parameters<ProxyUnderAttack["addNode"]>[0] = {}): number {
  return proxy.addNode({ upstream: { issuer: provider.issuer, client: { clientId: "the-one-app" } }, ...options });
}

async function loggedIn() {
  const [first = 0] = nodes;
  const tokens = await proxy.login(client, {}, first);
  return { tokens, caller: await proxy.caller(tokens.access_token, first) };
}

/** The provider's token of a caller, as one node gives it. */
const ask = (caller: Awaited<ReturnType<typeof loggedIn>>["caller"], node: number) =>
  proxy.proxies[node]?.upstreamToken(caller);

describe("several nodes that need a new token of the provider at once", () => {
  it("use its refresh token once, and all get the new token", async () => {
    for (let round = 0; round < 10; round++) {
      const { caller } = await loggedIn();
      const before = await ask(caller, nodes[0] ?? 0);
      proxy.clock += 301_000;
      const asked = provider.to("/token").length;
      const got = await Promise.all([...nodes, ...nodes].map((node) => ask(caller, node)));
      expect(provider.to("/token").length - asked).toBe(1);
      expect(new Set(got).size).toBe(1);
      expect(got[0]).toMatch(/^eyJ/);
      expect(got[0]).not.toBe(before);
      expect(provider.replays).toBe(0);
    }
  });

  it("all learn that the provider refuses, which is asked once", async () => {
    const { caller } = await loggedIn();
    proxy.clock += 301_000;
    const asked = provider.to("/token").length;
    provider.behaviour.intercept = ({ path }, response) => {
      if (path !== "/token") return false;
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
      return true;
    };
    try {
      const got = await Promise.all(nodes.map((node) => ask(caller, node)));
      expect(got).toEqual([undefined, undefined, undefined]);
      expect(provider.to("/token").length - asked).toBe(1);
    } finally {
      delete provider.behaviour.intercept;
    }
    // A later call tries again at once.
    expect(await ask(caller, nodes[1] ?? 0)).toMatch(/^eyJ/);
  });

  it("wait for a node that crashed meanwhile no longer than its lease", async () => {
    const { caller } = await loggedIn();
    proxy.clock += 301_000;
    const crash = gate();
    let isCut = false;
    // It holds the lease when it sends to the provider, and does nothing from then on.
    const crashing = addNode({
      storage: proxy.seenStorage(() => (isCut ? Promise.reject(new Error("this node has crashed")) : undefined)),
      platform: sending(() => {
        isCut = true;
        crash.open();
        return new Promise(() => {});
      }),
    });
    ask(caller, crashing)?.catch(() => {});
    await crash.opened;
    const [looks, asked] = [gate(), provider.to("/token").length];
    let count = 0;
    const other = addNode({
      storage: proxy.seenStorage((method) => {
        if (method === "get" && ++count === 20) looks.open();
        return undefined;
      }),
    });
    const waiting = Promise.all([...nodes, other].map((node) => ask(caller, node)));
    // As long as the lease lasts, no other node uses the refresh token.
    proxy.clock += 4_999;
    await looks.opened;
    expect(provider.to("/token").length - asked).toBe(0);
    proxy.clock += 2;
    const got = new Set(await waiting);
    expect(got.size).toBe(1);
    expect([...got][0]).toMatch(/^eyJ/);
    expect(provider.to("/token").length - asked).toBe(1);
    expect(provider.replays).toBe(0);
  });

  it("leave the lease to a node whose provider takes long", async () => {
    const { caller } = await loggedIn();
    proxy.clock += 301_000;
    const [sent, extended, answer] = [gate(), gate(), gate()];
    let isLater = false;
    const slow = addNode({
      storage: proxy.seenStorage((method) => {
        if (method === "touch" && isLater) extended.open();
        return undefined;
      }),
      platform: sending(() => {
        sent.open();
        return answer.opened;
      }),
    });
    const first = ask(caller, slow);
    await sent.opened;
    const looks = gate();
    let count = Number.NaN;
    const other = addNode({
      storage: proxy.seenStorage((method) => {
        if (method === "get" && ++count === 10) looks.open();
        return undefined;
      }),
    });
    const waiting = ask(caller, other);
    const asked = provider.to("/token").length;
    proxy.clock += 4_000;
    isLater = true;
    await extended.opened;
    // Beyond the first lease, within the extended one.
    proxy.clock += 4_000;
    count = 0;
    await looks.opened;
    answer.open();
    const got = await Promise.all([first, waiting]);
    expect(got[0]).toMatch(/^eyJ/);
    expect(got[1]).toBe(got[0]);
    expect(provider.to("/token").length - asked).toBe(1);
  });
});

/** A promise, and the function that resolves it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** The platform of a node that does something before it sends a form to the provider. */
function sending(before: () => Promise<void>) {
  const fetch = async (url: string, init?: RequestInit) => {
    if (init?.method === "POST") await before();
    return globalThis.fetch(url, init);
  };
  return { now: () => proxy.clock, fetch, warn: () => {} };
}
