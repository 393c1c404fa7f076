/**
 * A `fetch` that breaks one answer's stream after its first event with an id and a message, as a lost connection does, and
 * counts the requests that come back for the rest.
 */
export function cuttingFetch() {
  const seen = { cuts: 0, returns: 0 };
  const send = async (url, init = {}) => {
    if (new Headers(init.headers).has("last-event-id")) seen.returns += 1;
    const response = await fetch(url, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (init.method !== "POST" || !isStream || seen.cuts > 0) return response;
    const cut = () => {
      seen.cuts += 1;
    };
    return new Response(response.body.pipeThrough(new TextDecoderStream()).pipeThrough(breaking(cut)), {
      status: response.status,
      headers: response.headers,
    });
  };
  return { fetch: send, seen };
}

function breaking(cut) {
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      rest += chunk;
      for (let end = rest.search(/\r?\n\r?\n/); end >= 0; end = rest.search(/\r?\n\r?\n/)) {
        const event = `${rest.slice(0, end)}\n\n`;
        rest = rest.slice(end).replace(/^\r?\n\r?\n/, "");
        controller.enqueue(new TextEncoder().encode(event));
        if (/^id: ?\S/m.test(event) && /^data: ?\{/m.test(event) && !/"result"/.test(event)) {
          cut();
          controller.error(new TypeError("the connection was cut"));
          return;
        }
      }
    },
  });
}
