import { featuresOf, type Revision } from "./revisions.js";

/** An icon for a server, client, tool, prompt or resource. From 2025-11-25 on. */
export interface Icon {
  /** An `https:` or `data:` URI. Clients fetch it without credentials and only from a trusted origin. */
  src: string;
  /** The MIME type of the image, for a source whose own type is missing or too general. */
  mimeType?: string;
  /** Sizes such as `48x48`, or `any` for a scalable image. */
  sizes?: string[];
  /** The background that the icon is designed for. */
  theme?: "light" | "dark";
}

/**
 * The name and version that a server or client reports about itself. Unverified, so never the basis of a security
 * decision.
 */
export interface Implementation {
  /** The programmatic name. Shown to users if there is no `title`. */
  name: string;
  /** The version of the program, in any format. */
  version: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** A human-readable description of the program. From 2025-11-25 on. */
  description?: string;
  /** The address of the program's website. From 2025-11-25 on. */
  websiteUrl?: string;
  /** Icons for user interfaces, in different sizes or formats. From 2025-11-25 on. */
  icons?: Icon[];
}

/** The version of this package, as in its `package.json`. */
export const LIBRARY_VERSION = "1.0.0-rc.1";

/** The implementation with only the members that the revision defines. */
export function implementationIn(revision: Revision, info: Implementation): Implementation {
  const features = featuresOf(revision);
  if (features.icons) return info;
  const { name, version, title } = info;
  return { name, version, ...(features.title && title !== undefined ? { title } : {}) };
}
