/**
 * Lookup of the ids of repositories that were linked by URL. If a repository is renamed before its first
 * delivery, only the id identifies it.
 */
import { type PlainDb } from '@muster/driver';
import { repositoryAddress } from '@muster/registry';
import { repositoryUrlAt } from './calls/api.ts';
import { expectGood } from './calls/call.ts';
import { findUnidentified } from './data/quiet-pulls.ts';
import { noteNames } from './data/repositories.ts';
import { readProject } from './rules/gitlab.ts';
import { readRepository } from './rules/pull-requests.ts';
import { askAboutPull, understood } from './reconcile.ts';
import { type ForgeCalls, notingFailure, openCredentials, type SendStatus } from './statuses.ts';

interface Job {
  readonly db: PlainDb;
  readonly orgId: string;
}

/** Returns `owner/name`; undefined for a repository of another host. */
function nameAt(baseUrl: string, url: string): string | undefined {
  const [home, address] = [`${repositoryAddress(baseUrl)}/`, repositoryAddress(url)];
  return address.startsWith(home) ? address.slice(home.length) : undefined;
}

async function identifyRepository(
  calls: ForgeCalls,
  { db, orgId }: Job,
  repositoryId: string,
): Promise<SendStatus | undefined> {
  const link = await findUnidentified(db, repositoryId);
  if (link === undefined) return undefined;
  const { connectionId, kind, baseUrl, quietUntil } = link;
  const fullName = nameAt(baseUrl, link.url);
  // Skip the request while the forge asks clients to wait. The id is also in the first delivery.
  const isQuiet = quietUntil !== null && Date.parse(quietUntil) > Date.now();
  if (fullName === undefined || isQuiet) return undefined;
  const ask = async () => {
    const credentials = openCredentials(calls, connectionId, link);
    const headers = await calls.authorize({ ...link, fullName, credentials });
    // GitLab accepts a path instead of an id.
    const url = repositoryUrlAt({ kind, baseUrl, externalId: fullName, fullName });
    const answer = expectGood(url, await calls.ask({ method: 'GET', url, headers }));
    return understood(answer, kind === 'gitlab' ? readProject : readRepository);
  };
  return async () => {
    const named = await notingFailure(calls, { orgId, connectionId }, 'reconcile', ask);
    if (named instanceof Error) return undefined;
    return async (after) => {
      after.later(noteNames(repositoryId, named));
    };
  };
}

/** Polls a forge for a pull request or a repository. */
export const askForge = (
  calls: ForgeCalls,
  job: Job,
  about: { readonly executionId: string } | { readonly repositoryId: string },
): Promise<SendStatus | undefined> =>
  'executionId' in about
    ? askAboutPull(calls, job, about.executionId)
    : identifyRepository(calls, job, about.repositoryId);
