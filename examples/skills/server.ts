import { Server } from "@parley/mcp";
import { skills } from "@parley/mcp/skills";

/** A server whose tool comes with instructions for its use. */
export function serveReleases(folder: string) {
  const extension = skills(folder);
  const server = new Server({ name: "releases", version: "1.0.0" }, { extensions: [extension] }).tool(
    "changes",
    { description: "What has changed since the last version" },
    () => "Faster start. Renamed an internal file.",
  );
  return { server, reload: () => extension.reload() };
}
