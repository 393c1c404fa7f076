import type { HttpExchange } from "../../src/contract/timeline.js";
import { CodeText } from "../parts/code-text.js";
import { formatMs } from "../parts/format-ms.js";

/** The HTTP request and response that carried a message. */
export function ExchangeHeaders({ exchange }: { readonly exchange: HttpExchange | undefined }) {
  if (exchange === undefined) {
    return <p class="soft">No HTTP exchange: this entry went over stdio, in memory or on an open stream.</p>;
  }
  const { status, durationMs, failure } = exchange;
  return (
    <div class="timeline-headers">
      <p class="mono timeline-address">
        {exchange.method} {exchange.url}
      </p>
      <HeaderTable title="Request headers" headers={exchange.requestHeaders} />
      {exchange.requestBody !== undefined && <CodeText label="Request body" text={exchange.requestBody} />}
      <p>
        {failure !== undefined && <span class="timeline-failed">{failure}</span>}
        {failure === undefined && (status === undefined ? "No response yet." : `Status ${status}`)}
        {durationMs !== undefined && <span class="soft"> after {formatMs(durationMs)}</span>}
      </p>
      {exchange.responseHeaders !== undefined && (
        <HeaderTable title="Response headers" headers={exchange.responseHeaders} />
      )}
      {exchange.responseBody !== undefined && <CodeText label="Response body" text={exchange.responseBody} />}
    </div>
  );
}

interface HeaderTableProps {
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;
}

function HeaderTable({ title, headers }: HeaderTableProps) {
  return (
    <table class="timeline-header-table">
      <caption>{title}</caption>
      <tbody>
        {Object.entries(headers).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
