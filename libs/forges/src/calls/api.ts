/** Where each forge takes a status, and where it tells of a pull request. */
import { forgeApiRoot, type ForgeKind } from '@muster/registry';
import { ownStatus } from '../rules/pull-requests.ts';
import { type Standing } from '../rules/standing.ts';

export interface NamedAtForge {
  readonly kind: ForgeKind;
  readonly baseUrl: string;
  /** The forge's own id. */
  readonly externalId: string;
  readonly fullName: string;
}

/** A status that is `failed` would fail GitLab's whole pipeline, which is no failure of the work's checks. */
const gitlabStates = { success: 'success', pending: 'pending', failure: 'pending' } as const;

/** A check run of an app that waits is under way. */
const runOf = {
  success: { status: 'completed', conclusion: 'success' },
  pending: { status: 'in_progress' },
  failure: { status: 'completed', conclusion: 'failure' },
} as const;

/** `owner/name` as a part of a path. */
export const pathOf = (fullName: string): string => fullName.split('/').map(encodeURIComponent).join('/');

export interface StatusToSend extends Standing {
  readonly sha: string;
  /** Where people see the story. */
  readonly link: string | null;
}

/** An app has checks, everything else commit statuses. */
export function statusRequest(
  at: NamedAtForge,
  { sha, state, description, link }: StatusToSend,
  isApp: boolean,
): { readonly url: string; readonly body: string } {
  const repository = repositoryUrlAt(at);
  const url = `${repository}/statuses/${encodeURIComponent(sha)}`;
  const name = ownStatus;
  if (at.kind === 'gitlab') {
    const said = {
      state: gitlabStates[state],
      name,
      description,
      ...(link !== null && { target_url: link }),
    };
    return { url, body: JSON.stringify(said) };
  }
  if (isApp) {
    const output = { title: description, summary: description };
    const said = {
      name,
      head_sha: sha,
      ...runOf[state],
      output,
      ...(link !== null && { details_url: link }),
    };
    return { url: `${repository}/check-runs`, body: JSON.stringify(said) };
  }
  const said = { state, context: name, description, ...(link !== null && { target_url: link }) };
  return { url, body: JSON.stringify(said) };
}

/** What else is asked of a repository is below it. */
export const repositoryUrlAt = ({ kind, baseUrl, externalId, fullName }: NamedAtForge): string =>
  kind === 'gitlab'
    ? `${forgeApiRoot(kind, baseUrl)}/projects/${encodeURIComponent(externalId)}`
    : `${forgeApiRoot(kind, baseUrl)}/repos/${pathOf(fullName)}`;

export const pullUrl = (at: NamedAtForge, number: number): string =>
  `${repositoryUrlAt(at)}/${at.kind === 'gitlab' ? 'merge_requests' : 'pulls'}/${number}`;
