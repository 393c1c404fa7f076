import { connectToHost } from "@parley/mcp/apps-view";

// The page of an app, in a browser. A test works with what it leaves in its window.

const heard: [name: string, what: unknown][] = [];
const hear = (name: string) => (what: unknown) => {
  heard.push([name, what]);
};
const host = await connectToHost(
  { name: "ours", version: "1" },
  {
    onInput: hear("input"),
    onPartialInput: hear("partial"),
    onResult: hear("result"),
    onCancelled: hear("cancelled"),
    onContext: hear("context"),
    onTeardown: (reason) => host.log("info", `torn down: ${reason}`),
    displayModes: ["inline", "fullscreen"],
  },
);
Object.assign(globalThis, { host, heard });
