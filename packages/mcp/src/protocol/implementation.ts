/** A picture for a server, client, tool, prompt or resource. From 2025-11-25 on. */
export interface Icon {
  /** An `https:` or `data:` address. Consumers fetch it without credentials and only from a trusted origin. */
  src: string;
  mimeType?: string;
  /** Sizes such as `48x48`, or `any` for a scalable picture. */
  sizes?: string[];
  /** The background the picture is made for. */
  theme?: "light" | "dark";
}

/** The name and version by which a server or client presents itself; unverified, so never a base for a security decision. */
export interface Implementation {
  name: string;
  version: string;
  /** A name for people. From 2025-06-18 on. */
  title?: string;
  /** From 2025-11-25 on. */
  description?: string;
  /** From 2025-11-25 on. */
  websiteUrl?: string;
  /** From 2025-11-25 on. */
  icons?: Icon[];
}
