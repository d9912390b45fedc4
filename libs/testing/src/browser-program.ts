/** The machine's own Chromium: the one without windows first, which starts sooner and takes less of the processor. */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Undefined where there is none. */
export function findBrowser(): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env;
  if (CHROMIUM !== undefined) return CHROMIUM;
  const folders = [...PATH.split(path.delimiter), '/usr/bin'];
  return ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** As root it has no sandbox of its own, and containers have little shared memory. */
export const browserFlags = (): string[] => [
  '--disable-dev-shm-usage',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];
