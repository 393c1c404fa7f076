import { fileTokenStore } from "@parley/mcp/login";

/** Writes to a token file: `own` keys one after the other, or one counter that it shares with others under the lock. */
const [file = "", name = "", rounds = "0", kind = "own"] = process.argv.slice(2);
const store = fileTokenStore(file);
if (kind === "own") {
  for (let at = 0; at < Number(rounds); at++) await store.set(`${name} ${at}`, "x".repeat(1_000));
} else {
  for (let at = 0; at < Number(rounds); at++) {
    await store.lock?.("counter", async () => {
      await store.set("counter", String(Number((await store.get("counter")) ?? 0) + 1));
    });
  }
}
