import path from 'node:path';

/** The folder into which the site is built from sources, and from which `npm start` serves it. */
export const builtSiteFolder = path.resolve(import.meta.dirname, '../../../dist/site');
