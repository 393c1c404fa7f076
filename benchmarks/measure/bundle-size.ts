import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { PEERS } from "../child.js";
import type { Bench, Contender } from "../contender.js";

/** Size of a server with one tool, for a runtime with `fetch`, as a bundler packs it. */
export async function bundleSize({ program }: Contender): Promise<Bench> {
  const folder = program.owner === "here" ? join(import.meta.dirname, "../programs") : join(PEERS, "programs");
  return {
    async round() {
      const build = await rolldown({
        input: join(folder, program.file),
        platform: "browser",
        tsconfig: false,
        // What the runtime brings stays an import.
        external: /^(node:|cloudflare:)/,
        logLevel: "silent",
      });
      const { output } = await build.generate({ format: "esm", minify: true, codeSplitting: false });
      await build.close();
      const code = output.map((part) => (part.type === "chunk" ? part.code : "")).join("");
      return { kilobytes: code.length / 1024, gzipKilobytes: gzipSync(code, { level: 9 }).length / 1024 };
    },
    close: async () => {},
  };
}
