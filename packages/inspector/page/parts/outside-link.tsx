import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { AddressView } from "./address-view.js";
import { Dialog } from "./dialog.js";
import { openOutside, outsideAddress } from "./outside-address.js";

interface OutsideLinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
}

/** A link from a server. Shows the URL and asks before opening it. A URL other than http and https is plain text. */
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
        <Dialog title="Open this URL?" onClose={() => setAsking(false)}>
          <p>This link comes from a server and leaves the inspector:</p>
          <AddressView address={address} />
          <div class="parts-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
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
