/** The pages, as files. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { type Service } from '@muster/http';
import { createSite } from '@muster/http/site';
import { type Logger } from 'pino';

/** Names of built files change with what is in them; pages keep theirs. */
const cacheControlOf = (file: string): string =>
  file.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=300';

export const createDocs = (folder: string, logger: Logger): Service =>
  createSite({
    ...{ name: 'docs', folder, logger },
    routes: (app) => {
      app.get('/*', (request, reply) => {
        const file = fileFor(folder, request.url);
        if (file === undefined) return reply.code(404).sendFile('404.html');
        return reply.header('cache-control', cacheControlOf(file)).sendFile(file);
      });
    },
  });

const isFile = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    // No file has such a name.
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return false;
    throw error;
  }
};

/** The file that an address means, below the folder: a page needs no ending. Undefined where there is none. */
function fileFor(folder: string, address: string): string | undefined {
  const pathname = URL.parse(address, 'http://site')?.pathname;
  if (pathname === undefined) return undefined;
  // A URL has no dots that lead upwards, but what is escaped in it may.
  const name = path.normalize(decodeURIComponent(pathname)).slice(1);
  if (name.startsWith('..') || name.includes('\0')) return undefined;
  return [name, `${name}.html`, path.join(name, 'index.html')].find((candidate) =>
    isFile(path.join(folder, candidate)),
  );
}
