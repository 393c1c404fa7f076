/** What an app in the sandbox may ask the user for; the page's own frame must be allowed it to pass it on. */
const FOR_APPS = ["camera", "microphone", "geolocation", "clipboard-write"];

const FOR_NOBODY = [
  "accelerometer",
  "autoplay",
  "bluetooth",
  "browsing-topics",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gyroscope",
  "hid",
  "idle-detection",
  "magnetometer",
  "midi",
  "payment",
  "picture-in-picture",
  "publickey-credentials-get",
  "screen-wake-lock",
  "serial",
  "usb",
  "web-share",
  "xr-spatial-tracking",
];

/** Headers of every answer. A page of ours runs no script but its own, shows no resource but its own, and is framed by nobody. */
export function securityHeaders(sandboxOrigin: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data: blob:",
    "media-src data: blob:",
    "connect-src 'self'",
    `frame-src ${sandboxOrigin}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  const permissions = [
    ...FOR_APPS.map((name) => `${name}=(self "${sandboxOrigin}")`),
    ...FOR_NOBODY.map((name) => `${name}=()`),
  ];
  return {
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": permissions.join(", "),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
  };
}
