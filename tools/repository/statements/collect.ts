/**
 * Collects the texts that the product's statements can have, as far as random calls reach them. It calls each
 * exported function of the files that write statements, with random values of its parameter types. The fake
 * database answers with rows of the declared row types and sends nothing to a server.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32 } from 'node:zlib';
import { bindStatement, boundStatements, type Db, newId, Part } from '@muster/driver';
import { Dice, repositoryRoot } from '@muster/tools';
import { type CallSite, type Sources, wordsOf } from './call-sites.ts';
import { poolThatSendsNothing } from './pool-that-sends-nothing.ts';
import { Values } from './values.ts';

export interface Collected {
  readonly text: string;
  /** The file whose functions first sent this statement text. */
  readonly file: string;
  /** The places in the source where a template has this text. Several templates may be identical. */
  readonly sites: readonly CallSite[];
}

export interface Collection {
  readonly statements: readonly Collected[];
  /** Templates in the source that no call reached. */
  readonly missed: readonly CallSite[];
}

const callsEach = 30;
/**
 * The number of calls per function in later rounds, because only a few values reach the remaining statements.
 */
const callsAgain = 120;
/** The number of rounds. Each later round calls only the files whose statements have not all been reached. */
const rounds = 3;

/** Matches a whole statement. Any other text is a fragment of one. */
const statement = /^\s*(select|insert|update|delete|with)\b/i;

export async function collectStatements(sources: Sources): Promise<Collection> {
  const byWords = Map.groupBy(sources.sites, ({ words }) => words);
  const sitesOf = (strings: readonly string[]) => byWords.get(wordsOf(strings)) ?? [];
  /**
   * Gives each function its own random seed. An edit of one function therefore does not change which
   * statements the calls of others reach.
   */
  const valuesFor = (seed: string): Values => {
    const dice = new Dice(crc32(seed));
    const rowsOf = (site: CallSite | undefined): unknown[] => {
      const row = site?.row;
      return row === undefined ? [] : dice.pick([[], [0], [0, 0]]).map(() => values.of(row, 'row'));
    };
    const values = new Values(sources.checker, dice, {
      db: () => dbThatSends(newId(), rowsOf, sitesOf),
      pool: () => poolThatSendsNothing((text) => rowsOf(siteOf(text))),
    });
    return values;
  };
  const knownSites = new Map<string, CallSite | undefined>();
  const siteOf = (text: string): CallSite | undefined => {
    // An unknown text was bound before it was sent, or it is a statement without the `sql` tag, such as
    // BEGIN. In both cases one lookup is enough.
    if (!knownSites.has(text)) {
      knownSites.set(text, undefined);
      for (const bound of boundStatements())
        knownSites.set(bound.text, sitesOf(bound.partStrings[0] ?? [])[0]);
    }
    return knownSites.get(text);
  };
  const firstSentBy = new Map<string, string>();
  let files = sources.files;
  let missed: readonly CallSite[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const file of files) {
      await callAll(sources, file, round === 0 ? callsEach : callsAgain, (name) =>
        valuesFor(`${round} ${file} ${name}`),
      );
      for (const { text } of boundStatements()) if (!firstSentBy.has(text)) firstSentBy.set(text, file);
    }
    const found = new Set([...boundStatements()].flatMap(({ partStrings }) => partStrings.map(wordsOf)));
    missed = sources.sites.filter(({ words }) => !found.has(words));
    files = [...new Set(missed.map(({ file }) => file))];
  }
  const texts = new Map<string, CallSite[]>();
  for (const { text, partStrings } of boundStatements()) {
    if (statement.test(text))
      texts.set(text, [...new Set([...(texts.get(text) ?? []), ...sitesOf(partStrings[0] ?? [])])]);
  }
  return {
    statements: [...texts].map(([text, sites]) => {
      const file = firstSentBy.get(text) ?? '';
      const own = sites.filter((site) => site.file === file);
      // A template that consists only of values matches many texts, so it does not identify a site.
      return { text, file, sites: own.length > 0 ? own : sites.filter(({ words }) => /\w/.test(words)) };
    }),
    missed,
  };
}

async function callAll(
  { exportsOf }: Sources,
  file: string,
  calls: number,
  valuesFor: (name: string) => Values,
): Promise<void> {
  const module = (await import(pathToFileURL(path.join(repositoryRoot, file)).href)) as Record<
    string,
    unknown
  >;
  for (const [name, type] of exportsOf(file)) {
    const exported = module[name];
    if (exported instanceof Part) bindStatement(exported, newId());
    const [signature] = type.getCallSignatures();
    if (typeof exported !== 'function' || signature === undefined) continue;
    const values = valuesFor(name);
    for (let call = 0; call < calls; call += 1)
      await settleCall(() =>
        (exported as (...given: unknown[]) => unknown)(...values.argumentsOf(signature)),
      );
  }
}

/** Calls the function and binds the statements in its result. An error for a random value is ignored. */
async function settleCall(call: () => unknown): Promise<void> {
  try {
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => (timer = setTimeout(resolve, 50)));
    bindAll(await Promise.race([call(), patience]));
    clearTimeout(timer);
  } catch {
    // The function usually rejects a random value.
  }
}

function bindAll(value: unknown, depth = 0): void {
  if (value instanceof Part) bindStatement(value, newId());
  else if (typeof value === 'object' && value !== null && depth < 3)
    for (const one of Object.values(value)) bindAll(one, depth + 1);
}

function dbThatSends(
  orgId: string,
  rowsOf: (site: CallSite | undefined) => unknown[],
  sitesOf: (strings: readonly string[]) => readonly CallSite[],
): Db {
  const all = (source: Part): unknown[] => {
    bindStatement(source, orgId);
    return rowsOf(sitesOf(source.strings)[0]);
  };
  const only = async (source: Part): Promise<never> => {
    const [row] = all(source);
    if (row === undefined) throw new Error('there is no row');
    return row as never;
  };
  return {
    all: async (source) => all(source) as never,
    find: async (source) => all(source)[0] as never,
    one: only,
    get: only,
    deferToCommit: (source) => void all(source),
    writeNow: () => Promise.resolve(),
  };
}
