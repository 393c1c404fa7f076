export interface PublishedPackage {
  /** The name of its folder in `packages`. */
  readonly name: string;
  readonly folder: string;
  readonly manifest: { readonly name: string; readonly version: string };
}
export function publishedPackages(root: string): PublishedPackage[];
