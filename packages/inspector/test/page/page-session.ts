import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "@parley/mcp";
import type { Locator, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { InspectorTarget } from "../../src/connections/inspector-target.js";
import type { ActionInput, ActionName, ActionOutput } from "../../src/contract/actions.js";
import type { InspectorOptions } from "../../src/inspector-options.js";
import { type InspectedPage, openInspectedPage, type PageOptions } from "../kit/inspected-page.js";

/** Opens the page of an inspector for one test, and waits until it shows its views. */
export async function openPage(options: InspectorOptions, more: PageOptions = {}): Promise<InspectedPage> {
  const opened = await openInspectedPage(options, more);
  onTestFinished(() => opened.close());
  await opened.page.getByRole("tab", { name: "Timeline" }).waitFor();
  return opened;
}

/** Waits until a connection is ready. */
export async function whenReady(page: Page): Promise<void> {
  await page
    .getByText(/\bready\b/)
    .filter({ visible: true })
    .first()
    .waitFor();
}

/** Goes to a view by its tab. */
export async function goTo(page: Page, view: string): Promise<void> {
  await page.getByRole("tablist", { name: "Views" }).getByRole("tab", { name: view }).click();
}

/** Goes to a view by `g` and its key. */
export async function goByKeys(page: Page, key: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  // The page forgets `g` after a while, so both keys tell the same time, however long it takes to send them.
  const timestamp = Date.now() / 1_000;
  for (const text of ["g", key]) {
    await session.send("Input.dispatchKeyEvent", { type: "keyDown", key: text, text, timestamp });
    await session.send("Input.dispatchKeyEvent", { type: "keyUp", key: text, timestamp });
  }
  await session.detach();
}

/** Does an action as the page does it, for what another view has controls for. */
export function actInPage<N extends ActionName>(page: Page, name: N, input: ActionInput<N>): Promise<ActionOutput<N>> {
  return page.evaluate(
    async ([name, body]) => {
      const token = sessionStorage.getItem("parley-inspector-token") ?? "";
      const headers = { "content-type": "application/json", "x-parley-token": token };
      const response = await fetch(`/api/${name}`, { method: "POST", headers, body: String(body) });
      const answer = (await response.json()) as { ok: boolean; value: never; problem: unknown };
      if (!answer.ok) throw new Error(JSON.stringify(answer.problem));
      return answer.value;
    },
    [name, JSON.stringify(input)],
  );
}

/** The list of the timeline. */
export const timelineOf = (page: Page): Locator => page.getByRole("listbox", { name: "Timeline" });

/** Target of an address, as the terminal would give it. */
export function urlTarget(url: string, headers: Record<string, string> = {}): InspectorTarget {
  return { kind: "url", shown: url, url, open: (options) => connect(url, { ...options, headers }) };
}

/** A server that breaks the published schema: a tool whose name is a number, and a schema that is no object. */
export async function startWrongServer(): Promise<string> {
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "wrong", version: "1" },
    },
    "tools/list": {
      tools: [
        { name: "fine", inputSchema: { type: "object" } },
        { name: 12, inputSchema: { type: "array" } },
      ],
    },
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method } = JSON.parse(body === "" ? "{}" : body) as { id?: number; method?: string };
    if (id === undefined) return response.writeHead(request.method === "POST" ? 202 : 405).end();
    const result = results[method ?? ""];
    const answer = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    return response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // It listens on a port, so the address is no path.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
