/** Reads the lists of exceptions and owners. The YAML files explain them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const read = (file: string): unknown => parse(readFileSync(path.join(import.meta.dirname, file), 'utf8'));

/** Numbers of statements by file, grouped by the reason of the exception. */
type Counts = readonly { readonly reason: string; readonly files: Readonly<Record<string, number>> }[];

const countsByFile = (counts: Counts): ReadonlyMap<string, number> =>
  new Map(counts.flatMap(({ files }) => Object.entries(files)));

const exceptions = read('exceptions.yaml') as {
  readonly unreached: Counts;
  readonly neverNull: Readonly<Record<string, { readonly columns: readonly string[] }>>;
  readonly overOrganizations: Counts;
  readonly writingOverOrganizations: Readonly<Record<string, number>>;
};
export const { neverNull, writingOverOrganizations } = exceptions;
export const unreached = countsByFile(exceptions.unreached);
export const overOrganizations = countsByFile(exceptions.overOrganizations);

export const { ownedTables, otherWriters } = read('owners.yaml') as {
  readonly ownedTables: Readonly<Record<string, readonly string[]>>;
  /** The reasons by file and table. */
  readonly otherWriters: Readonly<Record<string, Readonly<Record<string, string>>>>;
};
