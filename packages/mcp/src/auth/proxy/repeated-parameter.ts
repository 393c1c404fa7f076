/** Whether a parameter comes more than once; RFC 6749, 3.1 and 3.2: none may, because two readers could take different ones. */
export function hasRepeatedParameter(parameters: URLSearchParams): boolean {
  return new Set(parameters.keys()).size !== [...parameters.keys()].length;
}
