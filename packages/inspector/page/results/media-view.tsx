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

/** A picture or a sound, with its type and size; what cannot be shown says why. */
export function MediaView({ kind, mimeType, data, uri }: MediaViewProps) {
  const media = useMemo(() => mediaAddress(kind, mimeType, data), [kind, mimeType, data]);
  const [broken, setBroken] = useState(false);
  const [pixels, setPixels] = useState("");
  const what = kind === "image" ? "picture" : "sound";
  const about = `${printable(plainType(mimeType))} ${formatBytes(base64Size(data))}`.trim();
  if ("refused" in media) {
    return (
      <p class="results-refused">
        This {what} is not shown. {printable(media.refused)} <Saved {...{ data, uri }} />
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
          alt="A result of the server"
          onError={() => setBroken(true)}
          onLoad={({ currentTarget }) => setPixels(` ${currentTarget.naturalWidth} × ${currentTarget.naturalHeight}`)}
        />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: the server sends none
        <audio controls src={media.address} aria-label="Sound of the server" onError={() => setBroken(true)} />
      )}
      <figcaption class="soft">
        {about}
        {pixels} <Saved {...{ data, uri }} />
      </figcaption>
    </figure>
  );
}

function Saved({ data, uri }: { readonly data: string; readonly uri?: string | undefined }) {
  return (
    <button type="button" class="quiet" onClick={() => saveBytes(fileNameOf(uri ?? ""), base64Bytes(data))}>
      Save
    </button>
  );
}

/** Bytes of a binary content that are shown. */
const MOST_BYTES = 512;

/** Binary content that is neither a picture nor a sound. */
export function BinaryView({ data, uri }: { readonly data: string; readonly uri?: string | undefined }) {
  if (!isBase64Data(data)) return <p class="results-refused">The data is not base64.</p>;
  const size = base64Size(data);
  return (
    <div class="results-binary">
      <pre>{hexLines(data, MOST_BYTES)}</pre>
      <p class="soft">
        {formatBytes(size)}
        {size > MOST_BYTES && `, of which the first ${MOST_BYTES} bytes are shown`} <Saved {...{ data, uri }} />
      </p>
    </div>
  );
}
