import type { Id } from "../../src/jsonrpc/message.js";
import type { Receiver, Transport } from "../../src/transport/transport.js";

/** A transport driven by hand: no era, no handshake, only requests and what comes back. */
export class RawClient {
  readonly transport: Transport;
  readonly faults: Error[] = [];
  readonly endings: (Error | undefined)[] = [];
  #next = 0;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  async open(): Promise<this> {
    const receiver: Receiver = {
      request: async ({ id }) => JSON.stringify({ jsonrpc: "2.0", id, result: { answered: true } }),
      notification() {},
      fault: (error) => void this.faults.push(error),
      closed: (reason) => void this.endings.push(reason),
    };
    await this.transport.open(receiver);
    return this;
  }

  ask(method: string, params: Record<string, unknown> = {}, id: Id = ++this.#next): Promise<unknown> {
    return this.transport.request({ id, method, text: JSON.stringify({ jsonrpc: "2.0", id, method, params }) });
  }
}
