import { featuresOf, type Revision } from "./revisions.js";

/** An icon for a server, client, tool, prompt or resource. From 2025-11-25 on. */
export interface Icon {
  /** An `https:` or `data:` URI. Clients fetch it without credentials and only from a trusted origin. */
  src: string;
  mimeType?: string;
  /** Sizes such as `48x48`, or `any` for a scalable image. */
  sizes?: string[];
  /** The background that the icon is designed for. */
  theme?: "light" | "dark";
}

/** The name and version that a server or client reports; unverified, so never the basis of a security decision. */
export interface Implementation {
  name: string;
  version: string;
  /** A human-readable name. From 2025-06-18 on. */
  title?: string;
  /** From 2025-11-25 on. */
  description?: string;
  /** From 2025-11-25 on. */
  websiteUrl?: string;
  /** From 2025-11-25 on. */
  icons?: Icon[];
}

/** The version of this package, as in its `package.json`. */
export const LIBRARY_VERSION = "0.1.0";

/** The members of an implementation that a revision has. */
export function implementationIn(revision: Revision, info: Implementation): Implementation {
  const features = featuresOf(revision);
  if (features.icons) return info;
  const { name, version, title } = info;
  return { name, version, ...(features.title && title !== undefined ? { title } : {}) };
}
