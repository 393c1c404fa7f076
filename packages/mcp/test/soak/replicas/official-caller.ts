import { loadPeer } from "../../mounts/peer-packages.js";
import type { CallLedger } from "./call-ledger.js";

/** The part of the official clients, of either major version, that is used here. */
interface OfficialClient {
  connect(transport: unknown): Promise<void>;
  callTool(params: object, ...rest: unknown[]): Promise<{ content: { text?: string }[]; isError?: boolean }>;
  setRequestHandler(schema: unknown, handler: (request: { params: { message?: string } }) => unknown): void;
  close(): Promise<void>;
}
type ClientClass = new (info: object, options?: object) => OfficialClient;
type TransportClass = new (url: URL, options?: object) => { terminateSession?(): Promise<void> };

export interface OfficialPlan {
  readonly url: string;
  readonly principal: string;
  readonly version: 1 | 2;
  readonly ledger: CallLedger;
  readonly random: () => number;
}

const TIMEOUT_MS = 15_000;
const REST_MS = 200;
const TOOLS = ["look", "charge", "ask"] as const;

/** An application on the official SDK, in a session through the same balancer. It connects anew after each failure. */
export class OfficialCaller {
  readonly #plan: OfficialPlan;
  #client: OfficialClient | undefined;
  #transport: InstanceType<TransportClass> | undefined;
  connects = 0;

  constructor(plan: OfficialPlan) {
    this.#plan = plan;
  }

  async run(goesOn: () => boolean): Promise<void> {
    const { principal, version, ledger, random } = this.#plan;
    while (goesOn()) {
      const client = await this.#connect();
      if (client === undefined) {
        await rest(REST_MS);
        continue;
      }
      const tool = TOOLS[Math.floor(random() * TOOLS.length)] ?? "look";
      const call = ledger.begin(`${principal} by the official client ${version}`, principal, tool, false);
      const args = { name: tool, arguments: { nonce: call.nonce, steps: 1, restMs: 20 + 300 * random() } };
      const options = { timeout: TIMEOUT_MS };
      try {
        const { content, isError } = await (version === 1
          ? client.callTool(args, undefined, options)
          : client.callTool(args, options));
        const text = content[0]?.text ?? "";
        if (isError === true) ledger.failed(call, new Error(text), true);
        else ledger.answered(call, text);
      } catch (error) {
        ledger.failed(call, error, true);
        await this.leave();
        await rest(REST_MS);
      }
    }
  }

  async leave(): Promise<void> {
    const [client, transport] = [this.#client, this.#transport];
    this.#client = undefined;
    await transport?.terminateSession?.().catch(() => {});
    await client?.close().catch(() => {});
  }

  async #connect(): Promise<OfficialClient | undefined> {
    if (this.#client !== undefined) return this.#client;
    const { url, principal, version } = this.#plan;
    this.connects++;
    const requestInit = { headers: { authorization: `Bearer ${principal}` } };
    try {
      const { client, Transport } = version === 1 ? await this.#first() : await this.#second();
      this.#transport = new Transport(new URL(url), { requestInit });
      await client.connect(this.#transport);
      this.#client = client;
    } catch {
      return undefined;
    }
    return this.#client;
  }

  async #first() {
    const { Client } = await loadPeer<{ Client: ClientClass }>("@modelcontextprotocol/sdk/client/index.js");
    const { ElicitRequestSchema } = await loadPeer<{ ElicitRequestSchema: unknown }>(
      "@modelcontextprotocol/sdk/types.js",
    );
    const { StreamableHTTPClientTransport: Transport } = await loadPeer<Record<string, TransportClass>>(
      "@modelcontextprotocol/sdk/client/streamableHttp.js",
    );
    if (Transport === undefined) throw new Error("the official SDK has no transport over HTTP");
    const client = new Client({ name: "official", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => this.#answer(params.message));
    return { client, Transport };
  }

  async #second() {
    const sdk = await loadPeer<{ Client: ClientClass; StreamableHTTPClientTransport: TransportClass }>(
      "@modelcontextprotocol/client",
    );
    const options = { capabilities: { elicitation: {} }, versionNegotiation: { mode: "legacy" } };
    const client = new sdk.Client({ name: "official", version: "2" }, options);
    client.setRequestHandler("elicitation/create", ({ params }) => this.#answer(params.message));
    return { client, Transport: sdk.StreamableHTTPClientTransport };
  }

  #answer(message = ""): object {
    this.#plan.ledger.told(this.#plan.principal, message);
    return { action: "accept", content: { word: `${message.split(" ")[2]}!` } };
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
