/** Renders this service's own pages, which are opened by a secret in their URL. */
import { createNarrowFrame, type PageFrameOptions, type RenderedPage } from '@muster/http';

const pageFrame = createNarrowFrame({
  name: 'Muster',
  style: `
code, pre { font: .9em/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { margin: 0 0 1rem; padding: .75rem 1rem; white-space: pre-wrap; border-radius: 8px; background: var(--paper) }
#form { margin: 0 }
[hidden] { display: none }
`,
});

export const renderFramedPage = (page: PageFrameOptions): RenderedPage =>
  pageFrame({ ...page, isAddressSecret: true });
