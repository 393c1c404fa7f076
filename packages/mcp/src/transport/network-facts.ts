/** How messages travel, in the words of OpenTelemetry. */
export interface NetworkFacts {
  readonly transport?: "tcp" | "pipe" | "unix" | undefined;
  readonly protocol?: "http" | "websocket" | undefined;
  /** The other end, as a client knows it. */
  readonly address?: string | undefined;
  readonly port?: number | undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 };

/** How messages travel to a URL. */
export function networkOf(url: string, protocol: NetworkFacts["protocol"]): NetworkFacts {
  const { hostname, port, protocol: scheme } = new URL(url);
  return { transport: "tcp", protocol, address: hostname, port: port === "" ? DEFAULT_PORTS[scheme] : Number(port) };
}
