import { blockContent, printable } from "@parley/mcp/protocol";
import { formatBytes } from "../parts/format-bytes.js";
import { JsonTree } from "../parts/json-tree.js";
import { fileNameOf, plainType } from "./media-data.js";
import { BinaryView, MediaView } from "./media-view.js";
import { TextView } from "./text-view.js";

type Members = Readonly<Record<string, unknown>>;

/** Returns the members of an object. Empty for any other value. */
export function membersIn(value: unknown): Members {
  // Every object can be indexed. Each member is checked before it is used.
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** Returns a member of server data if it is a string. */
export function textIn(members: Members, name: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

interface ContentViewProps {
  readonly block: unknown;
  /** Reads a linked resource. */
  readonly onRead?: ((uri: string) => void) | undefined;
}

/** One content block of a result or a message, by type. Falls back to JSON if the block is malformed. */
export function ContentView({ block, onRead }: ContentViewProps) {
  const members = membersIn(block);
  const content = blockContent(block);
  if (content.kind === "link") return <ResourceLinkView link={members} onRead={onRead} />;
  if (content.kind === "unknown")
    return <JsonTree value={block} label={printable(textIn(members, "type") ?? "Content")} />;
  if (content.uri !== undefined) return <ResourceContentsView contents={members["resource"]} />;
  if (content.kind === "text") return <TextView text={content.text} />;
  const { kind, data, mimeType } = content;
  return kind === "file" ? (
    <BinaryView data={data} uri="" />
  ) : (
    <MediaView kind={kind} data={data} mimeType={mimeType} />
  );
}

/** The contents of a resource under its URI: text, image, audio or bytes. */
export function ResourceContentsView({ contents }: { readonly contents: unknown }) {
  const members = membersIn(contents);
  const uri = textIn(members, "uri") ?? "";
  const mimeType = textIn(members, "mimeType");
  const text = textIn(members, "text");
  const blob = textIn(members, "blob");
  const type = plainType(mimeType);
  return (
    <article class="results-resource">
      <p class="results-address">
        <code>{printable(uri)}</code> <span class="soft">{printable(mimeType ?? "no media type")}</span>
      </p>
      {text !== undefined ? (
        <TextView text={text} mimeType={mimeType} fileName={fileNameOf(uri)} />
      ) : blob === undefined ? (
        <JsonTree value={contents} label="Contents" />
      ) : type.startsWith("image/") || type.startsWith("audio/") ? (
        <MediaView kind={type.startsWith("image/") ? "image" : "audio"} data={blob} mimeType={mimeType} uri={uri} />
      ) : (
        <BinaryView data={blob} uri={uri} />
      )}
    </article>
  );
}

function ResourceLinkView({ link, onRead }: { readonly link: Members; readonly onRead: ContentViewProps["onRead"] }) {
  const uri = textIn(link, "uri") ?? "";
  const { size } = link;
  return (
    <article class="results-resource">
      <p>
        <strong>{printable(textIn(link, "title") ?? textIn(link, "name") ?? "Resource")}</strong>{" "}
        <code>{printable(uri)}</code>{" "}
        <span class="soft">
          {printable(textIn(link, "mimeType") ?? "")} {typeof size === "number" ? formatBytes(size) : ""}
        </span>
      </p>
      {textIn(link, "description") !== undefined && <p>{printable(textIn(link, "description") ?? "")}</p>}
      {onRead !== undefined && (
        <button type="button" aria-label={`Read ${printable(uri)}`} onClick={() => onRead(uri)}>
          Read
        </button>
      )}
    </article>
  );
}
