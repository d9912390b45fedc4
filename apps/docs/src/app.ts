/** Serves the pages as files. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { type Service } from '@muster/http';
import { createSite } from '@muster/http/site';
import { type Logger } from 'pino';

/** The names of built assets change with their content; pages keep theirs. */
const cacheControlFor = (file: string): string =>
  file.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'public, max-age=300';

export const createDocsService = (siteFolder: string, logger: Logger): Service =>
  createSite({
    ...{ name: 'docs', folder: siteFolder, logger },
    routes: (app) => {
      app.get('/*', (request, reply) => {
        const file = findSiteFile(siteFolder, request.url);
        if (file === undefined) return reply.code(404).sendFile('404.html');
        return reply.header('cache-control', cacheControlFor(file)).sendFile(file);
      });
    },
  });

const isFile = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    // The file system rejects a name that is too long, so no such file exists.
    if ((error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return false;
    throw error;
  }
};

/**
 * Returns the path of the file below `folder` that a URL path names; undefined if there is none. URLs of
 * pages need no extension.
 */
function findSiteFile(siteFolder: string, urlPath: string): string | undefined {
  const pathname = URL.parse(urlPath, 'http://site')?.pathname;
  if (pathname === undefined) return undefined;
  // `URL.parse` resolves parent segments such as `..`, but not escaped ones such as `%2e%2e%2f`.
  const name = path.normalize(decodeURIComponent(pathname)).slice(1);
  if (name.startsWith('..') || name.includes('\0')) return undefined;
  return [name, `${name}.html`, path.join(name, 'index.html')].find((candidate) =>
    isFile(path.join(siteFolder, candidate)),
  );
}
