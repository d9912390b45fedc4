/** Completes values from the API. Offers nothing if the API does not answer promptly. */
import { parseArgs } from 'node:util';
import { type Client, createClient, httpTransport } from '@muster/client';
import { sanitizeToOneLine } from '@muster/terminal';
import cliTruncate from 'cli-truncate';
import { type CommandConnection, findConnection } from '../session/connection.ts';
import { readProfiles } from '../session/profiles.ts';
import { fetchWithCache, type CompletionValue } from './kept.ts';
import { type CompletableKind } from './things.ts';

/** The time limit for the API during a key press. */
const apiTimeoutMillis = 1_000;
/** The number of records to fetch of each kind. Of stories, the most recently changed ones are fetched. */
const maxRecordsPerKind = 200;
/** The number of projects to search if the line names no project. */
const maxSearchedProjects = 5;

const storyKeyPattern = /^([A-Za-z][A-Za-z0-9]{1,9})-\d*$/;

const toTitledValue = ({ id, title }: { id: string; title: string }): CompletionValue => ({
  value: id,
  meaning: title,
});
const toNamedValue = ({ id, name }: { id: string; name: string }): CompletionValue => ({
  value: id,
  meaning: name,
});

/** Kinds that belong to the whole organization. */
const organizationListers = {
  project: async (client: Client) =>
    (await client.projects.list({ limit: maxRecordsPerKind })).items.map(({ key, name }) => ({
      value: key,
      meaning: name,
    })),
  member: async (client: Client) =>
    (await client.members.list({ limit: maxRecordsPerKind })).items.map(toNamedValue),
  agent: async (client: Client) =>
    (await client.agents.list({ limit: maxRecordsPerKind })).items.map(toNamedValue),
  team: async (client: Client) =>
    (await client.teams.list({ limit: maxRecordsPerKind })).items.map(toNamedValue),
} satisfies Partial<Record<CompletableKind, (client: Client) => Promise<CompletionValue[]>>>;

/** Kinds that belong to a project. */
const projectListers = {
  story: async (client: Client, projectId: string) =>
    (await client.stories.list({ projectId, sort: 'updated', limit: maxRecordsPerKind })).items.map(
      ({ key, title }) => ({
        ...{ value: key, meaning: title },
      }),
    ),
  epic: async (client: Client, projectId: string) =>
    (await client.epics.list({ projectId, limit: maxRecordsPerKind })).items.map(toTitledValue),
  column: async (client: Client, projectId: string) =>
    (await client.boardColumns.list({ projectId, limit: maxRecordsPerKind })).items.map(toNamedValue),
} satisfies Partial<
  Record<CompletableKind, (client: Client, projectId: string) => Promise<CompletionValue[]>>
>;

interface ParsedCommandLine {
  readonly flags: Readonly<Record<string, string>>;
  /** The words that are neither a flag nor the value of a flag. */
  readonly positionalWords: readonly string[];
}

function parseTypedWords(words: readonly string[]): ParsedCommandLine {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    // Bash passes `--project=WEB` as three words.
    args: words.filter((word) => word !== '='),
    options: {
      ...{ 'base-url': text, token: text, profile: text },
      ...{ project: text, 'project-id': text },
    },
    allowPositionals: true,
    strict: false,
  });
  const given = Object.entries(values).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { flags: Object.fromEntries(given), positionalWords: positionals };
}

/** Creates cached lists with a client whose calls stop at the time limit. */
function createCachedLists(connection: CommandConnection) {
  const signal = AbortSignal.timeout(apiTimeoutMillis);
  // Uses the stored token without renewing it. A renewal must not be cut off, and a key press must not wait
  // for one.
  const { baseUrl, token } = connection;
  const hurried: typeof fetch = (input, init) => fetch(input, { ...init, signal });
  const client = createClient(httpTransport({ baseUrl, token, fetch: hurried }));
  const key = [baseUrl, token];
  return {
    all: (thing: keyof typeof organizationListers) =>
      fetchWithCache([...key, thing], () => organizationListers[thing](client)),
    of: (thing: keyof typeof projectListers, project: string) =>
      fetchWithCache([...key, thing, project], () => projectListers[thing](client, project)),
  };
}
type CachedLists = ReturnType<typeof createCachedLists>;

/** Returns the keys of the projects that the line refers to. */
async function findProjectKeys(
  lists: CachedLists,
  typedPrefix: string,
  { flags, positionalWords }: ParsedCommandLine,
): Promise<string[]> {
  const said = flags['project-id'] ?? flags['project'];
  if (said !== undefined) return [said];
  const [, key] = storyKeyPattern.exec(typedPrefix) ?? [];
  if (key !== undefined) return [key.toUpperCase()];
  const keys = (await lists.all('project')).map(({ value }) => value);
  const spoken = positionalWords.flatMap((word) => [
    word.toUpperCase(),
    storyKeyPattern.exec(word)?.[1]?.toUpperCase(),
  ]);
  const meant = spoken.find((word) => word !== undefined && keys.includes(word));
  if (meant !== undefined) return [meant];
  const started = keys.filter((one) => one.startsWith(typedPrefix.toUpperCase()));
  return (started.length > 0 ? started : keys).slice(0, maxSearchedProjects);
}

async function fetchAllValues(
  kind: CompletableKind,
  typedPrefix: string,
  commandLine: ParsedCommandLine,
): Promise<CompletionValue[]> {
  if (kind === 'profile') {
    const { profiles } = await readProfiles();
    return Object.entries(profiles).map(([value, { baseUrl }]) => ({ value, meaning: baseUrl }));
  }
  const { 'base-url': baseUrl, token, profile } = commandLine.flags;
  const lists = createCachedLists(
    await findConnection({
      ...(baseUrl !== undefined && { baseUrl }),
      ...(token !== undefined && { token }),
      ...(profile !== undefined && { profile }),
    }),
  );
  if (kind === 'project' || kind === 'member' || kind === 'agent' || kind === 'team') return lists.all(kind);
  const projects = await findProjectKeys(lists, typedPrefix, commandLine);
  return (await Promise.all(projects.map((project) => lists.of(kind, project)))).flat();
}

/**
 * Returns the values that begin with the typed word. If there are none, returns a value whose description
 * contains the word, but only if no other value matches.
 */
function filterMatching(values: readonly CompletionValue[], typedPrefix: string): CompletionValue[] {
  const small = typedPrefix.toLowerCase();
  const starting = values.filter(({ value }) => value.toLowerCase().startsWith(small));
  if (starting.length > 0) return starting;
  const about = values.filter(({ meaning }) => meaning.toLowerCase().includes(small));
  return about.length === 1 ? about : [];
}

/** The width of a description, so that it fits on a line next to its value. */
const maxMeaningColumns = 50;
const formatValueLine = ({ value, meaning }: CompletionValue): string =>
  `${value}\t${cliTruncate(sanitizeToOneLine(meaning), maxMeaningColumns)}`;

/** Prints a line for each value: the value, a tab, and its description. Prints nothing on any error. */
export async function completionLines(
  kind: CompletableKind,
  typedPrefix: string,
  words: readonly string[],
): Promise<string[]> {
  try {
    const values = await fetchAllValues(kind, typedPrefix, parseTypedWords(words));
    // A shell displays and types the value, so only values without spaces and special characters are safe.
    return filterMatching(values, typedPrefix)
      .filter(({ value }) => /^[\w.:@-]+$/.test(value))
      .map(formatValueLine);
  } catch {
    return [];
  }
}
