import { describe, expect, it } from "vitest";
import { fakeTime } from "../../../test/http/fake-time.js";
import { ClientDocuments } from "./proxy-clients.js";

const id = (name: number | string) => `https://${name}.example/client.json`;
const DAY = 24 * 3_600_000;

/** Documents that all hosts have, unless `hold` keeps the answers back. */
function documents() {
  const time = fakeTime();
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const state = { hold: false };
  const found = new ClientDocuments({
    platform: time.platform,
    allows: () => true,
    async fetch(url) {
      asked.push(url);
      if (state.hold) await new Promise<void>((resolve) => held.push(resolve));
      return Response.json({ client_id: url, redirect_uris: ["https://app.example/callback"] });
    },
  });
  const release = () => {
    for (const go of held.splice(0)) go();
  };
  return { found, time, asked, state, release };
}

describe("documents of clients, of which strangers name a thousand", () => {
  it("stay known if they were used since", async () => {
    const { found, asked } = documents();
    await found.find(id("app"));
    for (let at = 0; at < 2_000; at++) {
      await found.find(id(at));
      await found.find(id("app"));
    }
    expect(asked.filter((url) => url === id("app"))).toHaveLength(1);
    await found.find(id(1_999));
    expect(asked).toHaveLength(2_001);
    // The one that was used longest ago has made room.
    await found.find(id(0));
    expect(asked).toHaveLength(2_002);
  });

  it("stay known if users have logged in by them, for 900 clients", async () => {
    const { found, asked } = documents();
    for (let at = 0; at < 1_000; at++) {
      await found.find(id(`app-${at}`));
      found.trust(id(`app-${at}`));
    }
    for (let at = 0; at < 1_000; at++) await found.find(id(at));
    asked.length = 0;
    for (let at = 100; at < 1_000; at++) await found.find(id(`app-${at}`));
    expect(asked).toEqual([]);
    await found.find(id("app-0"));
    expect(asked).toEqual([id("app-0")]);
  });

  it("are read beside 64 slow ones if users have logged in by them, 16 at once", async () => {
    const { found, time, asked, state, release } = documents();
    for (let at = 0; at < 17; at++) found.trust(id(`app-${at}`));
    await found.find(id("app-0"));
    // Longer than a document is used without being read again.
    time.advance(2 * DAY);
    state.hold = true;
    asked.length = 0;
    const slow = Array.from({ length: 64 }, (_, at) => found.find(id(at)));
    await expect(found.find(id("stranger"))).rejects.toThrow("too many client documents");
    const own = Array.from({ length: 16 }, (_, at) => found.find(id(`app-${at}`)));
    await expect(found.find(id("app-16"))).rejects.toThrow("too many client documents");
    expect(asked).toHaveLength(80);
    release();
    for (const client of await Promise.all([...slow, ...own])) expect(client).toHaveProperty("redirectUris");
  });
});
