import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const source = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** The page's script: the client with the platform that browsers get. */
export async function bundlePage(): Promise<string> {
  const build = await rolldown({
    input: fileURLToPath(new URL("./page.ts", import.meta.url)),
    platform: "browser",
    tsconfig: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "@parley/mcp": source("index.ts"),
        "#platform": source("platform/default.ts"),
        "#transports": source("transport/default-transports.ts"),
      },
    },
  });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return output[0].code;
}
