import { loadAsking } from "../../src/server/questions/with-asking.js";
import { World } from "./world.js";

/** Plays one seed in a world of its own, where a rejection that nobody handles breaks a rule. */
export async function playSeed<T>(seed: number, verbose: boolean, play: (world: World) => Promise<T>): Promise<T> {
  const world = new World(seed, verbose);
  const unhandled = (reason: unknown) => world.violate("I12", `unhandled rejection: ${String(reason)}`);
  process.on("unhandledRejection", unhandled);
  try {
    // Loading code takes real time, which has no place in a simulated world.
    await loadAsking();
    return await play(world);
  } finally {
    process.off("unhandledRejection", unhandled);
  }
}
