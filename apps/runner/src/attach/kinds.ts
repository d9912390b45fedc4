/** The attachment kind and media type of a file, by its name. */
import path from 'node:path';
import { type AttachmentKind } from '@muster/contract';

const mediaTypes: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp' },
  ...{
    avif: 'image/avif',
    svg: 'image/svg+xml',
    mp4: 'video/mp4',
    webm: 'video/webm',
    pdf: 'application/pdf',
  },
  ...{ xml: 'application/xml', json: 'application/json', html: 'text/html', zip: 'application/zip' },
  ...{ txt: 'text/plain', log: 'text/plain', tap: 'text/plain', info: 'text/plain', md: 'text/markdown' },
  ...{ csv: 'text/csv', diff: 'text/x-diff', patch: 'text/x-diff' },
};

const extensionOf = (name: string): string => path.extname(name).slice(1).toLowerCase();

export const mediaTypeOf = (name: string): string =>
  mediaTypes[extensionOf(name)] ?? 'application/octet-stream';

/** The kinds of files whose names show them, in the order in which they are checked. */
const kindPatterns: readonly (readonly [AttachmentKind, RegExp])[] = [
  [
    'coverage',
    /(^|\/)(lcov\.info|coverage[^/]*\.(json|xml|html|zip)|cobertura[^/]*\.xml|jacoco[^/]*\.xml)$/i,
  ],
  ['test_report', /(\.tap|(^|\/)[^/]*(junit|test|report|results?|spec)[^/]*\.xml)$/i],
  ['screenshot', /\.(png|jpe?g|gif|webp|avif)$/i],
  ['video', /\.(mp4|webm)$/i],
  ['log', /\.log$/i],
];

/** Returns the kind that the file's path suggests; `file` if it suggests none. */
export const guessKind = (file: string): AttachmentKind =>
  kindPatterns.find(([, pattern]) => pattern.test(file.replaceAll('\\', '/')))?.[0] ?? 'file';
