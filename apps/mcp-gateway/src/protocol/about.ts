/** Name, description and icon of the server, shown where clients list servers. */
import { type Implementation } from '@modelcontextprotocol/server';
import { logoSvg, productVersion } from '@muster/contract';

// The icon is a data URL, because clients do not fetch icons from unknown hosts.
const icons = [
  { src: `data:image/svg+xml,${encodeURIComponent(logoSvg)}`, mimeType: 'image/svg+xml', sizes: ['any'] },
];

/** Describes the server. `website` is the sign-in page, if the installation has one. */
export const describeServer = (website?: string): Implementation => ({
  ...{ name: 'muster', title: 'Muster', version: productVersion },
  description: 'Coordinates people and coding agents around a codebase',
  icons,
  ...(website !== undefined && { websiteUrl: website }),
});
