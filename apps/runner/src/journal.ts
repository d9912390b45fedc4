/**
 * The journal of a runner: each step is recorded before it is taken, in the folder that all worktrees of a
 * repository share. A runner continues an entry whose runner is gone.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { identifyProcess, isProcessAlive } from './processes.ts';

const runSteps = ['taking', 'taken', 'prepared', 'running', 'ended', 'closing', 'kept'] as const;

const RunResult = z.object({
  outcome: z.enum(['submitted', 'failed', 'canceled', 'handoff', 'release', 'lost', 'ended']),
  failure: z.string().optional(),
  summary: z.string(),
  toMemberId: z.string().optional(),
  toAgentId: z.string().optional(),
});
/** The planned or actual outcome of a run: its kind, a summary, and the recipient of a handoff. */
export type RunResult = z.infer<typeof RunResult>;

const StoryWork = z.object({
  executionId: z.string(),
  storyId: z.string(),
  key: z.string(),
  title: z.string(),
  projectId: z.string(),
  epoch: z.int(),
  attempt: z.int(),
  /** The branch into which the work will be merged. `baseSha` is the commit of that branch. */
  base: z.string(),
  baseSha: z.string(),
  /** The commit at which the work begins: the base, or the last commit of an earlier holder. */
  startSha: z.string(),
  /** A checkpoint of an earlier holder whose uncommitted changes have to be restored. */
  restoreSha: z.string().optional(),
  branch: z.string(),
  folder: z.string(),
  /** The git directory of the worktree, once it has been created. */
  gitDir: z.string().optional(),
  /** The ref of the run's checkpoints. */
  ref: z.string(),
  portBase: z.int().optional(),
  /** The time at which the folder was prepared. Older files of it are no evidence of the run. */
  preparedAt: z.string().optional(),
  /** The pull request of the work, once it is open. */
  pullRequest: z.object({ number: z.int(), url: z.string() }).optional(),
});
export type StoryWork = z.infer<typeof StoryWork>;

const JournalEntry = z.object({
  runId: z.string(),
  baseUrl: z.string(),
  command: z.array(z.string()),
  protocol: z.enum(['acp', 'command']).default('command'),
  /** The id that an agent with the Agent Client Protocol (ACP) gave its conversation; the run resumes it. */
  sessionId: z.string().optional(),
  agentName: z.string(),
  /** Names of the extra environment variables that the agent gets. Values are never stored. */
  passed: z.array(z.string()),
  /** Digest of git's configuration before the agent began. */
  gitConfig: z.string().optional(),
  here: z.boolean(),
  project: z.string(),
  step: z.enum(runSteps),
  holderId: z.string().optional(),
  work: StoryWork.optional(),
  /**
   * The branch to which the checkout returns after the run. It is set if the run uses the checkout instead of
   * a worktree.
   */
  cameFrom: z.string().optional(),
  agent: z.object({ pid: z.int(), began: z.string() }).optional(),
  tries: z.int(),
  note: z.string().optional(),
  /** The inbox item for which `muster work --serve` began the run. The agent gets it as news. */
  request: z.string().optional(),
  verdict: RunResult.optional(),
});
export type JournalEntry = z.infer<typeof JournalEntry>;

/** A journal entry that this process owns. No other process works on it. */
export interface OwnedEntry {
  readonly folder: string;
  get(): JournalEntry;
  /**
   * Records a completed step. The entry is on the disk when this returns, unless the repository was removed.
   */
  write(change: Partial<JournalEntry>): Promise<JournalEntry>;
  /** Records the next step before it is taken. The entry is on the disk when this returns. */
  recordNextStep(change: Partial<JournalEntry>): Promise<void>;
  /** Deletes the entry, because the run has ended and nothing is left to do. */
  deleteEntry(): Promise<void>;
}

export interface Journal {
  createEntry(entry: Omit<JournalEntry, 'runId' | 'step' | 'tries'>): Promise<OwnedEntry>;
  /** Takes over the entries of dead runners. Only one caller gets each entry. */
  adoptEntries(isWanted: (entry: JournalEntry) => boolean): Promise<OwnedEntry[]>;
  readonly listEntries: () => Promise<{ entry: JournalEntry; isRunning: boolean }[]>;
}

const isFileMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

function rethrowUnlessMissing(error: unknown): undefined {
  if (!isFileMissing(error)) throw error;
}

async function writeAndSync(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readEntry(folder: string): Promise<JournalEntry | undefined> {
  try {
    return JournalEntry.parse(JSON.parse(await readFile(path.join(folder, 'run.json'), 'utf8')));
  } catch (error) {
    if (isFileMissing(error)) return undefined;
    throw new Error(`${path.join(folder, 'run.json')} cannot be read: ${(error as Error).message}`);
  }
}

const ownerFilePattern = /^owner-(\d+)$/;

/**
 * Returns the number of the entry's latest owner (0 if it has had no owner), and whether the owner's process
 * is still alive.
 */
async function findLatestOwner(folder: string): Promise<{ generation: number; isLiving: boolean }> {
  const names = await readdir(folder).catch(() => []);
  const generation = Math.max(0, ...names.map((name) => Number(ownerFilePattern.exec(name)?.[1] ?? 0)));
  if (generation === 0) return { generation, isLiving: false };
  const text = await readFile(path.join(folder, `owner-${generation}`), 'utf8').catch(() => '');
  const [pid = '0', began = ''] = text.split(' ');
  return { generation, isLiving: await isProcessAlive({ pid: Number(pid), began }) };
}

/**
 * Makes this process the next owner of an entry. Returns true for only one of several callers, because each
 * owner file can be created only once.
 */
async function becomeOwner(folder: string, generation: number): Promise<boolean> {
  const me = await identifyProcess(process.pid);
  const draft = path.join(folder, `draft-${randomUUID()}`);
  try {
    await writeAndSync(draft, `${process.pid} ${me?.began ?? ''}`);
    await link(draft, path.join(folder, `owner-${generation + 1}`));
    await syncFolder(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOENT') return false;
    throw error;
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

function createOwnedEntry(folder: string, initialEntry: JournalEntry): OwnedEntry {
  let entry = initialEntry;
  const put = async (next: JournalEntry): Promise<void> => {
    const draft = path.join(folder, 'run.json.new');
    await writeAndSync(draft, `${JSON.stringify(next, null, 2)}\n`);
    await rename(draft, path.join(folder, 'run.json'));
    await syncFolder(folder);
  };
  return {
    folder,
    get: () => entry,
    write: async (change) => {
      entry = JournalEntry.parse({ ...entry, ...change });
      // An agent that removed the repository also removed this journal. The run ends, and no later runner can
      // resume it.
      await put(entry).catch(rethrowUnlessMissing);
      return entry;
    },
    recordNextStep: async (change) => {
      entry = JournalEntry.parse({ ...entry, ...change });
      // guard: the journal goes before the step
      await put(entry);
    },
    deleteEntry: async () => {
      await unlink(path.join(folder, 'run.json')).catch(rethrowUnlessMissing);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface InboxCursor {
  /** Returns the stored cursor. Returns undefined if there is none. */
  read(): Promise<number | undefined>;
  write(cursor: number): Promise<void>;
}

/** Opens the stored position up to which the requests in an agent's inbox were handled in this repository. */
export function openInboxCursor(commonDir: string, agentId: string): InboxCursor {
  const folder = path.join(commonDir, 'muster/inboxes');
  const file = path.join(folder, agentId);
  return {
    read: async () => {
      const text = await readFile(file, 'utf8').catch(rethrowUnlessMissing);
      return text === undefined ? undefined : Number(text);
    },
    write: async (cursor) => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeAndSync(`${file}.new`, `${cursor}\n`);
      await rename(`${file}.new`, file);
      await syncFolder(folder);
    },
  };
}

/** Opens the journal of a repository, given the folder that its worktrees share. */
export function openJournal(commonDir: string): Journal {
  const home = path.join(commonDir, 'muster/runs');
  const folders = async (): Promise<string[]> =>
    (await readdir(home).catch(() => [])).toSorted().map((name) => path.join(home, name));
  return {
    createEntry: async (entry) => {
      const id = randomUUID();
      const [folder, unfinished] = [path.join(home, id), path.join(commonDir, 'muster/unfinished', id)];
      for (const made of [home, unfinished]) await mkdir(made, { recursive: true, mode: 0o700 });
      await becomeOwner(unfinished, 0);
      const runId = `${hostname().slice(0, 60)}/${id}`;
      const first: JournalEntry = { ...entry, runId, step: 'taking', tries: 0 };
      await createOwnedEntry(unfinished, first).write({});
      // The entry becomes visible together with its owner file. Another runner would consider an entry
      // without an owner abandoned.
      await rename(unfinished, folder);
      await syncFolder(home);
      return createOwnedEntry(folder, first);
    },
    adoptEntries: async (isWanted) => {
      const adopted: OwnedEntry[] = [];
      for (const folder of await folders()) {
        const before = await readEntry(folder);
        if (before !== undefined && !isWanted(before)) continue;
        const { generation, isLiving } = await findLatestOwner(folder);
        if (isLiving || !(await becomeOwner(folder, generation))) continue;
        // Read the entry as its last owner left it. If the file is missing, the owner had not begun to work.
        const entry = await readEntry(folder);
        if (entry === undefined) await rm(folder, { recursive: true, force: true });
        else adopted.push(createOwnedEntry(folder, entry));
      }
      return adopted;
    },
    listEntries: async () => {
      const all = await Promise.all(
        (await folders()).map(async (folder) => {
          const entry = await readEntry(folder);
          return entry && { entry, isRunning: (await findLatestOwner(folder)).isLiving };
        }),
      );
      return all.filter((one) => one !== undefined);
    },
  };
}
