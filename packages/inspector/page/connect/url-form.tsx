import type { Revision } from "@parley/mcp/protocol";
import { useState } from "preact/hooks";
import { act } from "../backend/act.js";
import { chosenConnection } from "../backend/page-state.js";
import { ProblemNote } from "../parts/problem-note.js";
import { useAction } from "../parts/use-action.js";
import { RevisionSelect } from "./revision-select.js";

const TRANSPORT_NAMES = ["http", "sse"] as const;
type TransportName = (typeof TRANSPORT_NAMES)[number];

/** Connects to a server by URL. */
export function UrlForm({ onConnected }: { readonly onConnected?: (() => void) | undefined }) {
  const [url, setUrl] = useState("");
  const [transport, setTransport] = useState<TransportName | undefined>(undefined);
  const [revision, setRevision] = useState<Revision | undefined>(undefined);
  const [headers, setHeaders] = useState("");
  const action = useAction();
  const connect = (event: Event) => {
    event.preventDefault();
    action.run(async () => {
      const given = headerLines(headers);
      const opened = await act("connectUrl", { url: url.trim(), transport, revision, headers: given });
      chosenConnection.value = opened.connection;
      onConnected?.();
    });
  };
  return (
    <form class="connect-form" onSubmit={connect}>
      <label>
        <span>URL</span>
        <input
          type="url"
          required
          value={url}
          placeholder="https://example.com/mcp"
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
      </label>
      <div class="connect-form-pair">
        <label>
          <span>Transport</span>
          <select
            value={transport ?? ""}
            onChange={(event) => setTransport(TRANSPORT_NAMES.find((name) => name === event.currentTarget.value))}
          >
            <option value="">Auto-detect</option>
            <option value="http">Streamable HTTP</option>
            <option value="sse">HTTP with SSE (2024)</option>
          </select>
        </label>
        <div class="connect-field">
          <span aria-hidden="true">Revision</span>
          <RevisionSelect label="Revision" chosen={revision} onChoose={setRevision} />
        </div>
      </div>
      <label>
        <span>Headers, one per line</span>
        <textarea
          rows={2}
          value={headers}
          placeholder="X-Api-Key: …"
          spellcheck={false}
          onInput={(event) => setHeaders(event.currentTarget.value)}
        />
      </label>
      {action.problem !== undefined && <ProblemNote problem={action.problem} />}
      <div class="parts-actions">
        <button type="submit" class="main" disabled={action.busy}>
          {action.busy ? "Connecting…" : "Connect"}
        </button>
      </div>
    </form>
  );
}

/** A valid name of an HTTP header. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Parses lines of `Name: value`. Throws an error that quotes the first line that is not a header. */
export function headerLines(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const line of text.split("\n").map((line) => line.trim())) {
    if (line === "") continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    if (!HEADER_NAME.test(name))
      throw new Error(`"${line}" is not a header; write one header per line, as Name: value`);
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}
