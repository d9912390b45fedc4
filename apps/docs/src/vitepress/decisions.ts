import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Returns a link to each decision page, labeled with its title. */
export function listDecisionPages(pagesFolder: string): { text: string; link: string }[] {
  const folder = path.join(pagesFolder, 'decisions');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map((file) => {
      const [, title = file] = /^# (.+)$/m.exec(readFileSync(path.join(folder, file), 'utf8')) ?? [];
      return { text: title, link: `/decisions/${file.slice(0, -'.md'.length)}` };
    });
}
