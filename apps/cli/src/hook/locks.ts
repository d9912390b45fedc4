/** Checks whether files that are about to be edited are locked by someone else. */
import { type Client } from '@muster/client';
import { type Lock } from '@muster/contract';
import { parseRemote } from '@muster/runner';
import { sanitizeToOneLine } from '@muster/terminal';
import { type HookDecision } from './answers.ts';
import { type HookInput } from './input.ts';
import { pathInRepository } from './repository.ts';

type Identity = Awaited<ReturnType<Client['session']['identity']>>;

const locksPageSize = 200;

/** Returns the path as a lock resource. File names may contain glob characters, such as `[id].tsx`. */
const resourceOf = (file: string): string => file.replaceAll(/[*?[\]{}\\]/g, String.raw`\$&`);

/**
 * Returns true if the lock may be the caller's own. A member may have signed in both as a person, for the
 * hooks, and as an agent, for the client, so a person owns the locks of all their agents here.
 */
const isOwnLock = ({ holder }: Lock, { member, agent }: Identity): boolean =>
  holder.memberId === member.id && (agent === null || holder.agentId === agent.id);

/** Finds the first lock of someone else that covers the file. */
async function findLock(
  client: Client,
  projectId: string,
  file: string,
  identity: Promise<Identity>,
): Promise<Lock | undefined> {
  const params = { projectId, resource: resourceOf(file), limit: locksPageSize };
  for await (const lock of client.locks.list.all(params)) {
    if (!isOwnLock(lock, await identity)) return lock;
  }
  return undefined;
}

/**
 * Returns the projects whose locks count: the given one, that of `muster work`, that of the token, or those of
 * the held work.
 */
async function projectsOf(
  given: string | undefined,
  identity: Promise<Identity>,
): Promise<readonly string[]> {
  const named = given ?? process.env['MUSTER_PROJECT'];
  if (named !== undefined && named !== '') return [named];
  const { token, holding } = await identity;
  if (token.projectIds?.length === 1) return token.projectIds;
  return [...new Set(holding.flatMap(({ key }) => key?.split('-')[0] ?? []))];
}

/** The change that a lock may refuse. */
export type ChangeKind = 'edit' | 'commit';

const adviceOn: Readonly<Record<ChangeKind, string>> = {
  edit: 'Edit other files, or wait until the lock ends. Do not change the file by another way.',
  commit: 'Commit other files, or wait until the lock ends.',
};

function describeLock(
  file: string,
  { holder, resources, mode, expiresAt, reason }: Lock,
  change: ChangeKind,
): string {
  const who = sanitizeToOneLine(holder.name);
  const why = reason === null ? '' : ` Reason: "${sanitizeToOneLine(reason).slice(0, 200)}".`;
  const lock = `${mode} lock on ${resources.slice(0, 5).map(sanitizeToOneLine).join(', ')}`;
  return `Muster refused this ${change}: ${who} holds ${file} until ${expiresAt} (witness ${file}, ${lock}).${why} ${adviceOn[change]}`;
}

/** Lists the files of the repository that the tool is about to edit. */
export async function editedPathsOf({ folder, editedFiles }: HookInput): Promise<string[]> {
  const paths = await Promise.all(editedFiles.map((file) => pathInRepository(folder, file)));
  return paths.filter((file) => file !== undefined);
}

/** Returns true if one of the remotes is the project's repository, or if the project names none. */
async function isProjectOf(
  client: Client,
  projectId: string,
  remoteUrls: readonly string[],
): Promise<boolean> {
  const { repository } = (await client.projects.get({ projectId })).project;
  const wanted = parseRemote(repository?.url ?? '');
  if (wanted === undefined) return true;
  const nameOf = ({ baseUrl, fullName }: typeof wanted): string =>
    `${new URL(baseUrl).hostname}/${fullName}`.toLowerCase();
  return remoteUrls.some((url) => {
    const remote = parseRemote(url);
    return remote !== undefined && nameOf(remote) === nameOf(wanted);
  });
}

export interface LockCheckOptions {
  readonly project: string | undefined;
  readonly change: ChangeKind;
  /** The remotes of the local repository. If given, locks of projects with another repository do not count. */
  readonly remoteUrls?: readonly string[] | undefined;
}

/** The number of files that are checked at the same time. */
const batchSize = 20;

/** Refuses the change if someone else has locked one of the files. */
export async function checkLocks(
  client: Client,
  files: readonly string[],
  { project, change, remoteUrls }: LockCheckOptions,
): Promise<HookDecision> {
  const identity = client.session.identity();
  // Without this handler, a failure while nothing awaits it would end the process.
  identity.catch(() => undefined);
  const pairs = (await projectsOf(project, identity)).flatMap((id) => files.map((file) => ({ id, file })));
  for (let start = 0; start < pairs.length; start += batchSize) {
    const found = await Promise.all(
      pairs
        .slice(start, start + batchSize)
        .map(async ({ id, file }) => ({ file, lock: await findLock(client, id, file, identity) })),
    );
    for (const { file, lock } of found) {
      if (lock === undefined) continue;
      if (remoteUrls === undefined || (await isProjectOf(client, lock.projectId, remoteUrls)))
        return { kind: 'refuse', text: describeLock(file, lock, change) };
    }
  }
  // A failure counts also if no lock was found, for example because the token has expired.
  await identity;
  return { kind: 'continue' };
}
