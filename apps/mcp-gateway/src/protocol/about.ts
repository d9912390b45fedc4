/** How the server shows itself where clients list it. */
import { type Implementation } from '@modelcontextprotocol/server';
import { mark, productVersion } from '@muster/registry';

// Within the answer, since no client fetches what it does not know.
const icons = [
  { src: `data:image/svg+xml,${encodeURIComponent(mark)}`, mimeType: 'image/svg+xml', sizes: ['any'] },
];

/** `website` is where people sign in, where there is such a place. */
export const aboutServer = (website?: string): Implementation => ({
  ...{ name: 'muster', title: 'Muster', version: productVersion },
  description: 'Coordinates people and coding agents around a codebase',
  icons,
  ...(website !== undefined && { websiteUrl: website }),
});
