/** Writes the reference as files next to the pages, since the search of VitePress covers only files. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ReferencePage, referencePages } from '@muster/reference';

/** Groups the examples of a call on each surface in tabs. */
const inTabs = (markdown: string): string =>
  markdown.replaceAll(
    /(?<=^### Examples\n\n)(?:```.*\n[^]*?\n```\n+)+/gm,
    (examples) => `::: code-group\n\n${examples.trim()}\n\n:::\n\n`,
  );

const fileOf = ({ path: place }: ReferencePage): string =>
  place === 'reference' ? 'reference/index' : place;

const contentOf = ({ title, summary, markdown }: ReferencePage): string =>
  [
    '---',
    `title: ${JSON.stringify(title)}`,
    `description: ${JSON.stringify(summary)}`,
    '---',
    '',
    inTabs(markdown),
  ].join('\n');

/** Writes the pages of the reference below the folder. */
export async function writeReference(folder: string): Promise<void> {
  await mkdir(path.join(folder, 'reference'), { recursive: true });
  await Promise.all(
    referencePages().map((page) => writeFile(path.join(folder, `${fileOf(page)}.md`), contentOf(page))),
  );
}
