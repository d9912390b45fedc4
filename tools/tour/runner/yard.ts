/** A repository, three machines with a clone of it, and agents that work until they are let go. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { builtMain } from '@muster/testing/bundles';
import { type Told } from '@muster/testing/runner';
import { repositoryRoot } from '../../dev/repository.ts';
import { git, kill, type Machine, makeOrigin, openMachine, type Working } from '../../dev/runner-machine.ts';
import { type Instance } from '../instance.ts';
import { type Teammate } from '../team.ts';
import { until } from '../delivery/until.ts';

/** Someone's machine, and the runner on it. */
export interface Post {
  readonly who: Teammate;
  readonly machine: Machine;
  working: Working;
}

export interface Yard {
  readonly posts: readonly Post[];
  /** Starts the runner of a post again. */
  start(post: Post): void;
  /** The agent on that story ends its work. */
  letGo(key: string): Promise<void>;
  /** The number of the process of the agent that was last begun for the story. */
  agentOf(key: string): Promise<number | undefined>;
  /** What the machine of a post has heard for its agent. */
  heardBy(post: Post): Promise<string>;
  /** What the remote has at a path of a branch; undefined where there is none. */
  atRemote(branch: string, file: string): Promise<string | undefined>;
  branches(): Promise<string[]>;
  /** Entries of the journals of all machines. */
  journals(): Promise<string[]>;
  close(): Promise<void>;
}

const config = `hooks: { verify: test -s work.txt }
checkpoint: 1s
`;

/** Notes its process, waits to be let go, and leaves what it heard meanwhile beside its work. */
const agent = (place: string): string => `echo $$ > "${place}/$MUSTER_STORY.pid"
while [ ! -e "${place}/$MUSTER_STORY.go" ]; do sleep 0.1; done
cat "$MUSTER_SIGNALS" > heard.txt
echo "$MUSTER_STORY" > work.txt`;

/** What `muster work` is told: whatever can start next, until it is ended. */
const wordsFor = (project: string, place: string): string[] => [
  ...['--json', '--next', '--project', project, '--', 'sh', '-c', agent(place)],
];

async function bundleCli(folder: string): Promise<string> {
  const build = path.join(repositoryRoot, 'tools/build/build-app.ts');
  await promisify(execFile)(process.execPath, [build, 'apps/cli', folder], { cwd: repositoryRoot });
  return path.join(folder, 'main.js');
}

export async function openYard(
  { baseUrl }: Instance,
  project: string,
  people: readonly Teammate[],
): Promise<Yard> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'muster-tour-runner-')));
  const place = path.join(home, 'yard');
  await mkdir(place);
  const origin = await makeOrigin(home, config);
  const main = builtMain('cli') ?? (await bundleCli(path.join(home, 'bundle')));
  const words = wordsFor(project, place);
  const posts = await Promise.all(
    people.map(async (who): Promise<Post> => {
      const api = { url: baseUrl, token: who.token };
      const machine = await openMachine({ home, origin, main }, who.handle, api);
      return { who, machine, working: machine.start(words) };
    }),
  );
  return {
    posts,
    start: (post) => {
      post.working = post.machine.start(words);
    },
    letGo: (key) => writeFile(path.join(place, `${key}.go`), ''),
    agentOf: async (key) => {
      const text = await readFile(path.join(place, `${key}.pid`), 'utf8').catch(() => '');
      return text === '' ? undefined : Number(text);
    },
    heardBy: async ({ machine }) => {
      const runs = path.join(machine.folder, '.git/muster/runs');
      const files = await readdir(runs).catch(() => []);
      const texts = files.map((run) =>
        readFile(path.join(runs, run, 'signals.jsonl'), 'utf8').catch(() => ''),
      );
      return (await Promise.all(texts)).join('');
    },
    atRemote: (branch, file) => git(home, origin, 'show', `${branch}:${file}`).catch(() => undefined),
    branches: async () => {
      const names = await git(home, origin, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/muster');
      return names.split('\n').filter((name) => name !== '');
    },
    journals: async () => {
      const runs = await Promise.all(
        posts.map(({ machine }) => readdir(path.join(machine.folder, '.git/muster/runs')).catch(() => [])),
      );
      return runs.flat();
    },
    close: async () => {
      for (const { working } of posts) {
        kill(working.pid);
        await working.ended;
      }
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The first thing of that kind that the runner of a post told, from the beginning or of that story. */
export const told = ({ who, working }: Post, event: string, story?: string): Promise<Told> =>
  until(`${event} of ${who.name}'s runner`, 60, () =>
    Promise.resolve(
      working.told.find((one) => one.event === event && (story === undefined || one.story === story)),
    ),
  );

/** Whether a process of that number lives. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
