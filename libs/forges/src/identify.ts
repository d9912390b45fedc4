/**
 * Lookup of the ids of repositories that were linked by URL. If a repository is renamed before its first
 * delivery, only the id identifies it.
 */
import { type PlainDb } from '@muster/driver';
import { repositoryAddress } from '@muster/contract';
import { repositoryApiUrl } from './calls/api.ts';
import { requireSuccess } from './calls/call.ts';
import { findUnidentifiedRepository } from './data/quiet-pulls.ts';
import { storeRepositoryNames } from './data/repositories.ts';
import { readProject } from './rules/gitlab.ts';
import { readRepository } from './rules/pull-requests.ts';
import { pollPull, parseAnswer } from './reconcile.ts';
import {
  type ForgeCalls,
  withFailureStored,
  decryptCredentials,
  type AfterJobTransaction,
} from './statuses.ts';

interface IdentifyJob {
  readonly db: PlainDb;
  readonly orgId: string;
}

/** Returns `owner/name`; undefined for a repository of another host. */
function repositoryNameIn(baseUrl: string, url: string): string | undefined {
  const [home, address] = [`${repositoryAddress(baseUrl)}/`, repositoryAddress(url)];
  return address.startsWith(home) ? address.slice(home.length) : undefined;
}

async function identifyRepository(
  calls: ForgeCalls,
  { db, orgId }: IdentifyJob,
  repositoryId: string,
): Promise<AfterJobTransaction | undefined> {
  const link = await findUnidentifiedRepository(db, repositoryId);
  if (link === undefined) return undefined;
  const { connectionId, kind, baseUrl, quietUntil } = link;
  const fullName = repositoryNameIn(baseUrl, link.url);
  // Skip the request while the forge asks clients to wait. The id is also in the first delivery.
  const isQuiet = quietUntil !== null && Date.parse(quietUntil) > Date.now();
  if (fullName === undefined || isQuiet) return undefined;
  const fetchRepository = async () => {
    const credentials = decryptCredentials(calls, connectionId, link);
    const headers = await calls.authorize({ ...link, fullName, credentials });
    // GitLab accepts a path instead of an id.
    const url = repositoryApiUrl({ kind, baseUrl, externalId: fullName, fullName });
    const answer = requireSuccess(url, await calls.ask({ method: 'GET', url, headers }));
    return parseAnswer(answer, kind === 'gitlab' ? readProject : readRepository);
  };
  return async () => {
    const named = await withFailureStored(calls, { orgId, connectionId }, 'reconcile', fetchRepository);
    if (named instanceof Error) return undefined;
    return async (after) => {
      after.deferToCommit(storeRepositoryNames(repositoryId, named));
    };
  };
}

/** Polls a forge for a pull request or a repository. */
export const pollForge = (
  calls: ForgeCalls,
  job: IdentifyJob,
  target: { readonly executionId: string } | { readonly repositoryId: string },
): Promise<AfterJobTransaction | undefined> =>
  'executionId' in target
    ? pollPull(calls, job, target.executionId)
    : identifyRepository(calls, job, target.repositoryId);
