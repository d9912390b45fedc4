/** How the server shows itself where clients list it. */
import { type Implementation } from '@modelcontextprotocol/server';
import { productVersion } from '@muster/registry';

/** The mark of the docs and the console. Within the answer, since no client fetches what it does not know. */
const mark = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='9' fill='#0d7a6c'/><path d='M9 22V11l7 7 7-7v11' fill='none' stroke='#fff' stroke-width='3' stroke-linecap='round' stroke-linejoin='round'/></svg>`;

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
