import { MOST_BODY, type Sender, type SendRequest, type SendResponse } from "./shown-exchange.js";

/** Follows one exchange. */
export interface ExchangeFollower {
  /** Its response has begun. */
  responded(response: SendResponse): void;
  /** The body was read, as far as it is kept; called only for followers that have it. */
  body?: ((text: string) => void) | undefined;
  /** Nothing was answered. */
  failed(error: unknown): void;
}

/** Sends as another sender does, and shows each exchange to the follower that `follow` gives for it. */
export function watchedSender(sender: Sender, follow: (request: SendRequest) => ExchangeFollower): Sender {
  return (request, onResponse, onError) => {
    const follower = follow(request);
    // Who gives a request up after its failure may hear of it once more.
    let isOver = false;
    return sender(
      request,
      (response) => {
        isOver = true;
        follower.responded(response);
        onResponse(follower.body === undefined ? response : readResponse(response, follower.body));
      },
      (error) => {
        if (!isOver) follower.failed(error);
        isOver = true;
        onError(error);
      },
    );
  };
}

/** A response whose body is shown to `keep` while it is read. */
function readResponse(response: SendResponse, keep: (text: string) => void): SendResponse {
  const { headers } = response;
  return {
    status: response.status,
    header: (name) => response.header(name),
    ...(headers === undefined ? {} : { headers: () => headers.call(response) }),
    async text(maxBytes) {
      const text = await response.text(maxBytes);
      keep(text);
      return text;
    },
    chunks: () => readChunks(response.chunks(), keep),
    cancel: () => response.cancel(),
  };
}

async function* readChunks(chunks: AsyncIterable<Uint8Array>, keep: (text: string) => void) {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of chunks) {
      if (text.length < MOST_BODY) text += decoder.decode(chunk, { stream: true });
      yield chunk;
    }
  } finally {
    keep(text);
  }
}
