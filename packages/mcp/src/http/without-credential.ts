import type { SendResponse } from "./http.js";

/** Minimum length of a credential that is removed. Shorter credentials would match ordinary words. */
const MIN_LENGTH = 8;

/**
 * Removes the credential from the headers and text of an error response, because a server may repeat the credential in
 * its error. `chunks` are not changed.
 */
export function withoutCredential(response: SendResponse, credential: string | undefined): SendResponse {
  if (response.status < 400 || credential === undefined || credential.length < MIN_LENGTH) return response;
  const clean = (text: string) => text.replaceAll(credential, "…");
  const { headers } = response;
  return {
    status: response.status,
    header(name) {
      const value = response.header(name);
      return value === undefined ? undefined : clean(value);
    },
    ...(headers === undefined
      ? {}
      : {
          headers: () =>
            Object.fromEntries(Object.entries(headers.call(response)).map(([name, value]) => [name, clean(value)])),
        }),
    text: async (maxBytes) => clean(await response.text(maxBytes)),
    chunks: () => response.chunks(),
    cancel: () => response.cancel(),
  };
}

/** Returns the credential of an `Authorization` header: the text after its scheme. */
export function credentialOf(authorization: string | undefined): string | undefined {
  return authorization?.trim().split(/\s+/).at(-1);
}
