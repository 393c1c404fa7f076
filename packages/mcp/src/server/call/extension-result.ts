/** The result of a call in a form of an extension, which no middleware sees. */
export class ExtensionResult {
  /** The value of `resultType`, in revisions that have it. */
  readonly resultType: string;
  readonly members: object;

  constructor(resultType: string, members: object) {
    this.resultType = resultType;
    this.members = members;
  }
}
