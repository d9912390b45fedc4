/** Pages on which a person types the code of a device. */
import { type Html, html } from '@muster/http';
import { type HtmlPage } from './layout.ts';

/** A device that waits for its code to be approved. */
export interface RequestingDevice {
  /** The code in the format that the device shows. */
  readonly code: string;
  readonly ip: string | null;
  /** Self-reported by the program, so it proves nothing. */
  readonly userAgent: string | null;
}

export const deviceOriginPart = ({ code, ip, userAgent }: RequestingDevice): Html => html`
  <dl>
    <dt>Code</dt>
    <dd><strong>${code}</strong></dd>
    <dt>Requested from</dt>
    <dd>${ip ?? 'an unknown address'}</dd>
    <dt>Program (self-reported)</dt>
    <dd>${userAgent ?? 'unknown'}</dd>
  </dl>
  <p class="form-error">
    Connect only if you just started this yourself. If someone sent you the link or the code, choose Cancel.
    Otherwise, they get access to your organization.
  </p>
`;

export const devicePage = (code: string, problem: string | null): HtmlPage => ({
  title: 'Connect a device',
  status: problem === null ? 200 : 422,
  body: html`<section class="card">
    <h1>Connect a device</h1>
    <p>
      Enter the code that your program shows. Never enter a code that someone sent you: it would give them
      access to your organization.
    </p>
    ${problem === null ? null : html`<p class="form-error" role="alert">${problem}</p>`}
    <form method="post" action="/oauth/device">
      <label for="user_code">Code</label>
      <input
        class="field code"
        id="user_code"
        name="user_code"
        required
        maxlength="12"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck="false"
        value="${code}"
        autofocus
      />
      <button class="button" data-kind="main">Continue</button>
    </form>
  </section>`,
});

export const deviceDonePage = (clientName: string, isConnected: boolean): HtmlPage => ({
  title: isConnected ? `${clientName} is connected` : 'Not connected',
  body: html`<section class="card">
    <h1>${isConnected ? `${clientName} is connected` : 'Not connected'}</h1>
    <p>You can close this page and return to the program.</p>
  </section>`,
});
