import path from 'node:path';

/** Where the site is made from the sources, and served from by `npm start`. */
export const madeSite = path.resolve(import.meta.dirname, '../../../dist/site');
