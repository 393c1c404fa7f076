// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of configurations look like placeholders
import { type ReadServersOptions, readServers } from "@parley/mcp/config";
import type { Trial } from "./trial.js";

/** Reads a server that needs the function, beside one that does not. */
const reading =
  (option: "readFile" | "input", reference: string): Trial =>
  async (fail) => {
    const options: ReadServersOptions = { env: {}, [option]: fail };
    const config = { servers: { needs: { command: "c", args: [reference] }, other: { command: "c" } } };
    const { servers } = readServers(config, options);
    return `disabled: ${Object.keys(servers).filter((name) => servers[name]?.disabled === true)}`;
  };

/** What functions for reading a configuration come to when they fail. */
export const CONFIG_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "ValueSources.readFile": [reading("readFile", "${file:secret}"), "disabled: needs"],
  "ValueSources.input": [reading("input", "${input:secret}"), "disabled: needs"],
};
