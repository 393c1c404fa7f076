import { printable } from "@parley/mcp/protocol";
import { useMemo, useState } from "preact/hooks";
import { formatBytes } from "../parts/format-bytes.js";
import { saveBytes } from "../parts/save-file.js";
import { base64Bytes, base64Size, fileNameOf, hexLines, isBase64Data, mediaAddress, plainType } from "./media-data.js";

interface MediaViewProps {
  readonly kind: "image" | "audio";
  readonly mimeType?: string | undefined;
  /** Base64. */
  readonly data: string;
  readonly uri?: string | undefined;
}

/** An image or audio with its type and size, or the reason why it is not shown. */
export function MediaView({ kind, mimeType, data, uri }: MediaViewProps) {
  const media = useMemo(() => mediaAddress(kind, mimeType, data), [kind, mimeType, data]);
  const [broken, setBroken] = useState(false);
  const [pixels, setPixels] = useState("");
  const what = kind === "image" ? "image" : "audio";
  const about = `${printable(plainType(mimeType))} ${formatBytes(base64Size(data))}`.trim();
  if ("refused" in media) {
    return (
      <p class="results-refused">
        This {what} is not shown. {printable(media.refused)} <SaveButton {...{ data, uri }} />
      </p>
    );
  }
  return (
    <figure class="results-media">
      {broken ? (
        <p class="results-refused">
          The {what} is broken: its data is not {printable(plainType(mimeType))}.
        </p>
      ) : kind === "image" ? (
        <img
          src={media.address}
          alt="From the server"
          onError={() => setBroken(true)}
          onLoad={({ currentTarget }) => setPixels(` ${currentTarget.naturalWidth} × ${currentTarget.naturalHeight}`)}
        />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: servers send no captions
        <audio controls src={media.address} aria-label="Audio from the server" onError={() => setBroken(true)} />
      )}
      <figcaption class="soft">
        {about}
        {pixels} <SaveButton {...{ data, uri }} />
      </figcaption>
    </figure>
  );
}

function SaveButton({ data, uri }: { readonly data: string; readonly uri?: string | undefined }) {
  return (
    <button type="button" class="quiet" onClick={() => saveBytes(fileNameOf(uri ?? ""), base64Bytes(data))}>
      Save
    </button>
  );
}

/** Maximum number of displayed bytes of binary content. The whole content can be saved. */
const MAX_HEX_BYTES = 512;

/** Binary content that is neither an image nor audio. */
export function BinaryView({ data, uri }: { readonly data: string; readonly uri?: string | undefined }) {
  if (!isBase64Data(data)) return <p class="results-refused">The data is not valid base64.</p>;
  const size = base64Size(data);
  return (
    <div class="results-binary">
      <pre>{hexLines(data, MAX_HEX_BYTES)}</pre>
      <p class="soft">
        {formatBytes(size)}
        {size > MAX_HEX_BYTES && `, first ${MAX_HEX_BYTES} bytes shown`} <SaveButton {...{ data, uri }} />
      </p>
    </div>
  );
}
