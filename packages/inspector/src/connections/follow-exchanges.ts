import { MAX_BODY_LENGTH, type Sender, type SendRequest, type SendResponse } from "./redact-exchange.js";

/** Observes one HTTP exchange. */
export interface ExchangeFollower {
  /** Called when the response begins. */
  onResponse(response: SendResponse): void;
  /**
   * Called with the body after the client has read it. A streamed body is truncated. `onResponse` may set this
   * callback.
   */
  onBody?: ((text: string) => void) | undefined;
  /** Called if the request fails without a response. */
  onFailure(error: unknown): void;
}

/** Wraps a sender. Calls `follow` for each request and reports the exchange to the returned observer. */
export function followExchanges(sender: Sender, follow: (request: SendRequest) => ExchangeFollower): Sender {
  return (request, onResponse, onError) => {
    const follower = follow(request);
    // A request that is aborted after its response or failure may report another error, which the follower must not
    // receive.
    let isSettled = false;
    return sender(
      request,
      (response) => {
        isSettled = true;
        follower.onResponse(response);
        onResponse(follower.onBody === undefined ? response : observeResponse(response, follower.onBody));
      },
      (error) => {
        if (!isSettled) follower.onFailure(error);
        isSettled = true;
        onError(error);
      },
    );
  };
}

/** Wraps a response, so that `onText` receives the body after the client has read it. */
function observeResponse(response: SendResponse, onText: (text: string) => void): SendResponse {
  const { headers } = response;
  return {
    status: response.status,
    header: (name) => response.header(name),
    ...(headers === undefined ? {} : { headers: () => headers.call(response) }),
    async text(maxBytes) {
      const text = await response.text(maxBytes);
      onText(text);
      return text;
    },
    chunks: () => observeChunks(response.chunks(), onText),
    cancel: () => response.cancel(),
  };
}

async function* observeChunks(chunks: AsyncIterable<Uint8Array>, onText: (text: string) => void) {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of chunks) {
      if (text.length < MAX_BODY_LENGTH) text += decoder.decode(chunk, { stream: true });
      yield chunk;
    }
  } finally {
    onText(text);
  }
}
