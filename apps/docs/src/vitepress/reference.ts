/** Writes the reference as files next to the pages, since the search of VitePress covers only files. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ReferencePage, referencePages } from '@muster/reference';

/** Groups the examples of a call on each surface in tabs. */
const groupExamplesInTabs = (markdown: string): string =>
  markdown.replaceAll(
    /(?<=^### Examples\n\n)(?:```.*\n[^]*?\n```\n+)+/gm,
    (examples) => `::: code-group\n\n${examples.trim()}\n\n:::\n\n`,
  );

const fileNameOf = ({ path: place }: ReferencePage): string =>
  place === 'reference' ? 'reference/index' : place;

const renderPageFile = ({ title, summary, markdown }: ReferencePage): string =>
  [
    '---',
    `title: ${JSON.stringify(title)}`,
    `description: ${JSON.stringify(summary)}`,
    '---',
    '',
    groupExamplesInTabs(markdown),
  ].join('\n');

/** Writes the pages of the reference below the folder. */
export async function writeReference(pagesFolder: string): Promise<void> {
  await mkdir(path.join(pagesFolder, 'reference'), { recursive: true });
  await Promise.all(
    referencePages().map((page) =>
      writeFile(path.join(pagesFolder, `${fileNameOf(page)}.md`), renderPageFile(page)),
    ),
  );
}
