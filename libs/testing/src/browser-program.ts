/**
 * Finds the machine's own Chromium. The headless shell comes first, because it starts sooner and uses less
 * processor time.
 */
import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/**
 * Returns the browser named by the variable CHROMIUM, else the first browser that is installed. Returns
 * undefined if there is none.
 */
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

/**
 * Disables the sandbox for root, where Chromium supports none. Avoids shared memory, which is small in
 * containers.
 */
export const browserFlags = (): string[] => [
  '--disable-dev-shm-usage',
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
];
