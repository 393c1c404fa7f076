import type { AppHooks, AppServer } from "@parley/mcp/apps";
import type { AppHost, ConnectToHostOptions } from "@parley/mcp/apps-view";
import { windowPair } from "../extensions/apps/window-pair.js";
import { outcome, type Trial } from "./trial.js";

const server: AppServer = {
  async *tools() {
    yield { name: "t", inputSchema: { type: "object" } };
  },
  callTool: async () => ({ content: [] }),
  readResource: async () => ({ contents: [] }),
};
const context = { availableDisplayModes: ["inline" as const, "fullscreen" as const] };
const soon = () => new Promise((resolve) => setTimeout(resolve, 50));

const deciding =
  (hook: keyof AppHooks, ask: (host: AppHost) => unknown): Trial =>
  (fail) =>
    outcome(async () => {
      const pair = await windowPair({ server, context, onWarning: () => {}, [hook]: fail });
      try {
        return await ask(pair.host);
      } finally {
        await pair.app.close();
      }
    });

/** What a page asks of its host: it gets an answer, and no word of what failed there. */
const FAILED = "bare HostError: the host failed";

export const APP_ANSWER_TRIALS: Readonly<Record<string, readonly [trial: Trial, ended: string]>> = {
  "AppHooks.mayCallTool": [deciding("mayCallTool", (host) => host.callTool("t")), FAILED],
  "AppHooks.mayReadResource": [deciding("mayReadResource", (host) => host.readResource("r://a")), FAILED],
  "AppHooks.openLink": [deciding("openLink", (host) => host.openLink("https://example.com/")), FAILED],
  "AppHooks.sendMessage": [deciding("sendMessage", (host) => host.sendMessage("a")), FAILED],
  "AppHooks.updateModelContext": [deciding("updateModelContext", (host) => host.updateModelContext({})), FAILED],
  "AppHooks.changeDisplayMode": [
    deciding("changeDisplayMode", (host) => host.requestDisplayMode("fullscreen")),
    FAILED,
  ],
};

/** The host's own business, after which the page still works. */
const telling =
  (hook: keyof AppHooks, act: (host: AppHost) => unknown): Trial =>
  (fail) =>
    outcome(async () => {
      const { app, host } = await windowPair({ server, mayCallTool: () => true, [hook]: fail });
      await act(host);
      await host.callTool("t");
      await app.close();
    });

const hearing =
  (hook: keyof ConnectToHostOptions): Trial =>
  (fail) =>
    outcome(async () => {
      const { app, host } = await windowPair({ server, mayCallTool: () => true }, { [hook]: fail });
      app.toolInputPartial({});
      app.toolInput({});
      if (hook === "onCancelled") app.toolCancelled();
      else app.toolResult({ content: [] });
      app.changeContext({ theme: "dark" });
      await soon();
      await host.callTool("t");
      await app.close();
    });

const refused = (host: AppHost) => host.openLink("https://example.com/").catch(() => {});

export const APP_HOOK_TRIALS: Readonly<Record<string, Trial>> = {
  "AppHooks.onSize": telling("onSize", soon),
  "AppHooks.onLog": telling("onLog", (host) => host.log("info", "a")),
  "AppHooks.onCloseRequested": telling("onCloseRequested", (host) => host.requestTeardown()),
  "AppHooks.onRefused": telling("onRefused", refused),
  "AppHooks.onWarning": (fail) =>
    outcome(async () => {
      const openLink = () => {
        throw new Error("that");
      };
      const { app, host } = await windowPair({ openLink, onWarning: fail });
      await refused(host);
      await app.close();
    }),
  "ConnectToHostOptions.onInput": hearing("onInput"),
  "ConnectToHostOptions.onPartialInput": hearing("onPartialInput"),
  "ConnectToHostOptions.onResult": hearing("onResult"),
  "ConnectToHostOptions.onCancelled": hearing("onCancelled"),
  "ConnectToHostOptions.onContext": hearing("onContext"),
  "ConnectToHostOptions.onTeardown": hearing("onTeardown"),
};
