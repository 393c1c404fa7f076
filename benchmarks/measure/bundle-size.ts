import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type OutputChunk, type RolldownOptions, rolldown } from "rolldown";
import { PEERS } from "../child.js";
import type { Bench, Contender } from "../contender.js";

/** Size of a server with one tool, for a runtime with `fetch`, as a bundler packs it: in one file, and in as many as it splits. */
export async function bundleSize({ program }: Contender): Promise<Bench> {
  const folder = program.owner === "here" ? join(import.meta.dirname, "../programs") : join(PEERS, "programs");
  const options: RolldownOptions = {
    input: join(folder, program.file),
    platform: "browser",
    tsconfig: false,
    // What the runtime brings stays an import.
    external: /^(node:|cloudflare:)/,
    logLevel: "silent",
  };
  return {
    async round() {
      const total = await bundled(options, false);
      const initial = atStart(await bundled(options, true));
      return { gzipKilobytes: gzipped(total), initialGzipKilobytes: gzipped(initial) };
    },
    close: async () => {},
  };
}

async function bundled(options: RolldownOptions, codeSplitting: boolean): Promise<OutputChunk[]> {
  const build = await rolldown(options);
  const { output } = await build.generate({ format: "esm", minify: true, codeSplitting });
  await build.close();
  return output.filter((part) => part.type === "chunk");
}

/** The entry and what it loads before it runs. */
function atStart(chunks: readonly OutputChunk[]): OutputChunk[] {
  const found = new Set(chunks.filter(({ isEntry }) => isEntry));
  // A set gives out what is added while it is walked.
  for (const { imports } of found) {
    for (const chunk of chunks) if (imports.includes(chunk.fileName)) found.add(chunk);
  }
  return [...found];
}

/** As a server sends them: each file for itself. */
function gzipped(chunks: readonly OutputChunk[]): number {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0) / 1000;
}
