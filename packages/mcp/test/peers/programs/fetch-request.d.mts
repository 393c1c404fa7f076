/** A call of the tool that adds. */
export function callRequest(): Request;

/** A request for the list of tools. */
export function listRequest(): Request;
