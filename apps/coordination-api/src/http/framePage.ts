/** Pages that this service makes by itself, and opens by the secret in their address. */
import { createPageFrame, type Html, html, narrowStyle, type RenderedPage } from '@muster/http';

const frame = createPageFrame({
  name: 'Muster',
  style: `${narrowStyle}
code, pre { font: .9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { margin: 0 0 1rem; padding: .75rem 1rem; white-space: pre-wrap; border-radius: 8px; background: var(--paper) }
#form { margin: 0 }
[hidden] { display: none }
`,
});

export interface SecretPage {
  readonly title: string;
  readonly body: Html;
  readonly script?: string;
  /** The origin of another site that its forms may go to. */
  readonly formsTo?: string | undefined;
}

export const framePage = ({ body, ...page }: SecretPage): RenderedPage =>
  frame({
    ...{ ...page, isAddressSecret: true },
    body: html`<main>
      <p class="mark">Muster</p>
      ${body}
    </main>`,
  });
