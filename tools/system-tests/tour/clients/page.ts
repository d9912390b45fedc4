/**
 * Updates docs/mcp-clients-tried.md, which has one table for clients with a token and one for clients that
 * sign in.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';

const file = path.join(repositoryRoot, 'docs/mcp-clients-tried.md');
/** The heading above each table of the page. */
const heads = { token: '## By a token', 'sign-in': '## By signing in' } as const;

/** Returns the page with a new table of the given kind. The table of the other kind stays unchanged. */
export function withTable(page: string, kind: keyof typeof heads, table: string): string {
  const head = page.indexOf(`${heads[kind]}\n`);
  const start = page.indexOf('\n|', head) + 1;
  if (head === -1 || start === 0) throw new Error(`the page has no table below "${heads[kind]}"`);
  const rest = page.slice(start);
  const length = /^(?:\|.*\n)+/.exec(rest)?.[0].length ?? 0;
  return `${page.slice(0, start)}${table}\n${rest.slice(length)}`;
}

export async function writeTable(kind: keyof typeof heads, table: string): Promise<void> {
  await writeFile(file, withTable(await readFile(file, 'utf8'), kind, table));
}
