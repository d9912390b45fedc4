/** Completes values from the API. Offers nothing if the API does not answer promptly. */
import { parseArgs } from 'node:util';
import { type Client, createClient, httpTransport } from '@muster/client';
import { onOneLine } from '@muster/terminal';
import cliTruncate from 'cli-truncate';
import { type CommandConnection, findConnection } from '../session/connection.ts';
import { readProfiles } from '../session/profiles.ts';
import { kept, type Value } from './kept.ts';
import { type Thing } from './things.ts';

/** The time limit for the API during a key press. */
const patienceMillis = 1_000;
/** The number of records to fetch of each kind. Of stories, the most recently changed ones are fetched. */
const most = 200;
/** The number of projects to search if the line names no project. */
const mostProjects = 5;

const storyKey = /^([A-Za-z][A-Za-z0-9]{1,9})-\d*$/;

const titled = ({ id, title }: { id: string; title: string }): Value => ({ value: id, meaning: title });
const named = ({ id, name }: { id: string; name: string }): Value => ({ value: id, meaning: name });

/** Kinds that belong to the whole organization. */
const ofOrganization = {
  project: async (client: Client) =>
    (await client.projects.list({ limit: most })).items.map(({ key, name }) => ({
      value: key,
      meaning: name,
    })),
  member: async (client: Client) => (await client.members.list({ limit: most })).items.map(named),
  agent: async (client: Client) => (await client.agents.list({ limit: most })).items.map(named),
  team: async (client: Client) => (await client.teams.list({ limit: most })).items.map(named),
} satisfies Partial<Record<Thing, (client: Client) => Promise<Value[]>>>;

/** Kinds that belong to a project. */
const ofProject = {
  story: async (client: Client, projectId: string) =>
    (await client.stories.list({ projectId, sort: 'updated', limit: most })).items.map(({ key, title }) => ({
      ...{ value: key, meaning: title },
    })),
  epic: async (client: Client, projectId: string) =>
    (await client.epics.list({ projectId, limit: most })).items.map(titled),
  column: async (client: Client, projectId: string) =>
    (await client.boardColumns.list({ projectId, limit: most })).items.map(named),
} satisfies Partial<Record<Thing, (client: Client, projectId: string) => Promise<Value[]>>>;

interface Typed {
  readonly flags: Readonly<Record<string, string>>;
  /** The words that are neither a flag nor the value of a flag. */
  readonly words: readonly string[];
}

function read(words: readonly string[]): Typed {
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
  return { flags: Object.fromEntries(given), words: positionals };
}

/** Creates cached lists with a client whose calls stop at the time limit. */
function openLists(connection: CommandConnection) {
  const signal = AbortSignal.timeout(patienceMillis);
  // Uses the stored token without renewing it. A renewal must not be cut off, and a key press must not wait
  // for one.
  const { baseUrl, token } = connection;
  const hurried: typeof fetch = (input, init) => fetch(input, { ...init, signal });
  const client = createClient(httpTransport({ baseUrl, token, fetch: hurried }));
  const key = [baseUrl, token];
  return {
    all: (thing: keyof typeof ofOrganization) => kept([...key, thing], () => ofOrganization[thing](client)),
    of: (thing: keyof typeof ofProject, project: string) =>
      kept([...key, thing, project], () => ofProject[thing](client, project)),
  };
}
type Lists = ReturnType<typeof openLists>;

/** Returns the keys of the projects that the line refers to. */
async function projectsOf(lists: Lists, begun: string, { flags, words }: Typed): Promise<string[]> {
  const said = flags['project-id'] ?? flags['project'];
  if (said !== undefined) return [said];
  const [, key] = storyKey.exec(begun) ?? [];
  if (key !== undefined) return [key.toUpperCase()];
  const keys = (await lists.all('project')).map(({ value }) => value);
  const spoken = words.flatMap((word) => [word.toUpperCase(), storyKey.exec(word)?.[1]?.toUpperCase()]);
  const meant = spoken.find((word) => word !== undefined && keys.includes(word));
  if (meant !== undefined) return [meant];
  const started = keys.filter((one) => one.startsWith(begun.toUpperCase()));
  return (started.length > 0 ? started : keys).slice(0, mostProjects);
}

async function allOf(thing: Thing, begun: string, typed: Typed): Promise<Value[]> {
  if (thing === 'profile') {
    const { profiles } = await readProfiles();
    return Object.entries(profiles).map(([value, { baseUrl }]) => ({ value, meaning: baseUrl }));
  }
  const { 'base-url': baseUrl, token, profile } = typed.flags;
  const lists = openLists(
    await findConnection({
      ...(baseUrl !== undefined && { baseUrl }),
      ...(token !== undefined && { token }),
      ...(profile !== undefined && { profile }),
    }),
  );
  if (thing === 'project' || thing === 'member' || thing === 'agent' || thing === 'team')
    return lists.all(thing);
  const projects = await projectsOf(lists, begun, typed);
  return (await Promise.all(projects.map((project) => lists.of(thing, project)))).flat();
}

/**
 * Returns the values that begin with the typed word. If there are none, returns a value whose description
 * contains the word, but only if no other value matches.
 */
function fitting(values: readonly Value[], begun: string): Value[] {
  const small = begun.toLowerCase();
  const starting = values.filter(({ value }) => value.toLowerCase().startsWith(small));
  if (starting.length > 0) return starting;
  const about = values.filter(({ meaning }) => meaning.toLowerCase().includes(small));
  return about.length === 1 ? about : [];
}

/** The width of a description, so that it fits on a line next to its value. */
const meaningColumns = 50;
const lineOf = ({ value, meaning }: Value): string =>
  `${value}\t${cliTruncate(onOneLine(meaning), meaningColumns)}`;

/** Prints a line for each value: the value, a tab, and its description. Prints nothing on any error. */
export async function linesFor(thing: Thing, begun: string, words: readonly string[]): Promise<string[]> {
  try {
    const values = await allOf(thing, begun, read(words));
    // A shell displays and types the value, so only values without spaces and special characters are safe.
    return fitting(values, begun)
      .filter(({ value }) => /^[\w.:@-]+$/.test(value))
      .map(lineOf);
  } catch {
    return [];
  }
}
