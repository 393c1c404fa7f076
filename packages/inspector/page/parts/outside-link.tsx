import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.js";
import { openOutside, outsideAddress } from "./outside-address.js";
import { ShownAddress } from "./shown-address.js";

interface OutsideLinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
}

/** A link that a server gave. It shows where it leads and asks before it opens; anything but http and https is inert text. */
export function OutsideLink({ href, children }: OutsideLinkProps) {
  const [asking, setAsking] = useState(false);
  const address = outsideAddress(href);
  if (address === undefined) return <span title={href}>{children}</span>;
  const open = () => {
    setAsking(false);
    openOutside(address);
  };
  return (
    <>
      <button type="button" class="parts-link" title={address} onClick={() => setAsking(true)}>
        {children}
      </button>
      {asking && (
        <Dialog title="Open this address?" onClose={() => setAsking(false)}>
          <p>It was given by a server, and leaves the inspector:</p>
          <ShownAddress address={address} />
          <div class="parts-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Stay here
            </button>
            <button type="button" class="main" onClick={open}>
              Open in a new tab
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
