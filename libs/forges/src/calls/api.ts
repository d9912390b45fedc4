/** The API paths of each forge for commit statuses and pull requests. */
import { forgeApiRoot, type ForgeKind } from '@muster/contract';
import { ownStatusName } from '../rules/pull-requests.ts';
import { type CommitStatus } from '../rules/standing.ts';

export interface RepositoryAtForge {
  readonly kind: ForgeKind;
  readonly baseUrl: string;
  /** The forge's own id of the repository. */
  readonly externalId: string;
  readonly fullName: string;
}

/**
 * The GitLab state for each state of Muster's status. A failure is sent as pending. A `failed` status would
 * fail the whole pipeline, although the work's own checks did not fail.
 */
const gitlabStateByStatus = { success: 'success', pending: 'pending', failure: 'pending' } as const;

/**
 * The fields of a GitHub App's check run for each state of Muster's status. GitHub has no pending check runs,
 * so a pending status becomes a check run in progress.
 */
const checkRunFields = {
  success: { status: 'completed', conclusion: 'success' },
  pending: { status: 'in_progress' },
  failure: { status: 'completed', conclusion: 'failure' },
} as const;

/** Encodes `owner/name` as a part of a path. */
export const encodeFullName = (fullName: string): string =>
  fullName.split('/').map(encodeURIComponent).join('/');

export interface StatusToSend extends CommitStatus {
  readonly sha: string;
  /** The URL of the page that shows the story to people. */
  readonly link: string | null;
}

/** Creates the request for a status. GitHub Apps use check runs, and everything else uses commit statuses. */
export function createStatusRequest(
  target: RepositoryAtForge,
  { sha, state, description, link }: StatusToSend,
  isApp: boolean,
): { readonly url: string; readonly body: string } {
  const repository = repositoryApiUrl(target);
  const url = `${repository}/statuses/${encodeURIComponent(sha)}`;
  const name = ownStatusName;
  if (target.kind === 'gitlab') {
    const statusFields = {
      state: gitlabStateByStatus[state],
      name,
      description,
      ...(link !== null && { target_url: link }),
    };
    return { url, body: JSON.stringify(statusFields) };
  }
  if (isApp) {
    const output = { title: description, summary: description };
    const statusFields = {
      name,
      head_sha: sha,
      ...checkRunFields[state],
      output,
      ...(link !== null && { details_url: link }),
    };
    return { url: `${repository}/check-runs`, body: JSON.stringify(statusFields) };
  }
  const statusFields = { state, context: name, description, ...(link !== null && { target_url: link }) };
  return { url, body: JSON.stringify(statusFields) };
}

/** Returns the API URL of a repository. The paths of all other requests begin with it. */
export const repositoryApiUrl = ({ kind, baseUrl, externalId, fullName }: RepositoryAtForge): string =>
  kind === 'gitlab'
    ? `${forgeApiRoot(kind, baseUrl)}/projects/${encodeURIComponent(externalId)}`
    : `${forgeApiRoot(kind, baseUrl)}/repos/${encodeFullName(fullName)}`;

export const pullApiUrl = (target: RepositoryAtForge, number: number): string =>
  `${repositoryApiUrl(target)}/${target.kind === 'gitlab' ? 'merge_requests' : 'pulls'}/${number}`;
