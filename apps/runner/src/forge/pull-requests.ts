/**
 * Finds or opens the pull request of a branch at GitHub, Gitea or Forgejo, or its merge request at GitLab.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { forgeApiRoot, forgeNames } from '@muster/contract';
import { z } from 'zod';
import { type Forge } from './remote.ts';

export interface OpenedPullRequest {
  readonly number: number;
  readonly url: string;
}

export interface NewPullRequest {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

interface FoundPullRequest extends OpenedPullRequest {
  /** True if the pull request goes from a branch of the same repository into the base branch. */
  readonly matchesBranches: boolean;
}

/** The requests that a kind of forge understands. */
interface ForgeDialect {
  readonly headers: Readonly<Record<string, string>>;
  readonly findUrl: string;
  /** Reads one pull request of the search result, which is sorted newest first. */
  readonly parsePullRequest: (one: unknown) => FoundPullRequest;
  readonly openUrl: string;
  readonly openRequestBody: object;
  /** The HTTP status with which the forge reports that the pull request already exists. */
  readonly conflictStatus: number;
}

/** The branch of a pull request. `repo` is null if the repository of the branch was deleted. */
const PullRequestSide = z.object({ ref: z.string(), repo: z.object({ id: z.int() }).nullable() });
const PullRequestResponse = z.object({
  number: z.int(),
  html_url: z.string(),
  head: PullRequestSide,
  base: PullRequestSide,
});
const MergeRequestResponse = z.object({
  ...{ iid: z.int(), web_url: z.string(), source_branch: z.string(), target_branch: z.string() },
  ...{ source_project_id: z.int(), target_project_id: z.int() },
});

const encodePath = (fullName: string): string => fullName.split('/').map(encodeURIComponent).join('/');

function createForgeDialect(forge: Forge, token: string, newPullRequest: NewPullRequest): ForgeDialect {
  const { kind, baseUrl, fullName } = forge;
  const { branch, base, title, body, isDraft } = newPullRequest;
  const root = forgeApiRoot(kind, baseUrl);
  if (kind === 'gitlab') {
    const openUrl = `${root}/projects/${encodeURIComponent(fullName)}/merge_requests`;
    const query = new URLSearchParams({ source_branch: branch, target_branch: base, state: 'all' });
    return {
      headers: { authorization: `Bearer ${token}` },
      findUrl: `${openUrl}?${query.toString()}`,
      parsePullRequest: (answer) => {
        const one = MergeRequestResponse.parse(answer);
        const isHere = one.source_project_id === one.target_project_id;
        return {
          ...{ number: one.iid, url: one.web_url },
          matchesBranches: isHere && one.source_branch === branch && one.target_branch === base,
        };
      },
      openUrl,
      openRequestBody: {
        ...{ source_branch: branch, target_branch: base, description: body },
        title: isDraft ? `Draft: ${title}` : title,
      },
      conflictStatus: 409,
    };
  }
  const openUrl = `${root}/repos/${encodePath(fullName)}/pulls`;
  const read: ForgeDialect['parsePullRequest'] = (answer) => {
    const { number, html_url: url, ...one } = PullRequestResponse.parse(answer);
    const isHere = one.head.repo !== null && one.head.repo.id === one.base.repo?.id;
    return { number, url, matchesBranches: isHere && one.head.ref === branch && one.base.ref === base };
  };
  if (kind === 'github') {
    const owner = fullName.split('/')[0] ?? '';
    const query = new URLSearchParams({ head: `${owner}:${branch}`, base, state: 'all' });
    return {
      headers: {
        ...{ authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
        'x-github-api-version': '2022-11-28',
      },
      ...{ findUrl: `${openUrl}?${query.toString()}`, parsePullRequest: read, openUrl, conflictStatus: 422 },
      openRequestBody: { head: branch, base, title, body, draft: isDraft },
    };
  }
  return {
    headers: { authorization: `token ${token}` },
    // Gitea and Forgejo cannot search by branch, so this request reads the most recently changed pull
    // requests.
    findUrl: `${openUrl}?state=all&sort=recentupdate&limit=50`,
    parsePullRequest: read,
    openUrl,
    conflictStatus: 409,
    openRequestBody: { head: branch, base, title: isDraft ? `WIP: ${title}` : title, body },
  };
}

const requestTimeoutMillis = 30_000;
const maxAttempts = 3;
const maxErrorChars = 300;

/** The error of a failed request to the forge. */
export class ForgeRequestError extends Error {
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }

  /** True if a later attempt may succeed. */
  get isTemporary(): boolean {
    return this.status === undefined || this.status === 429 || this.status >= 500;
  }
}

async function sendForgeRequest(
  url: string,
  headers: ForgeDialect['headers'],
  body?: object,
): Promise<unknown> {
  const { host } = new URL(url);
  const answer = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    // Does not follow redirects, so that the credentials never go to another host.
    redirect: 'manual',
    headers: {
      ...{ accept: 'application/json', 'user-agent': 'Muster', ...headers },
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestTimeoutMillis),
  }).catch((error: unknown) => {
    throw new ForgeRequestError(`${host} did not answer: ${(error as Error).message}`);
  });
  const text = await answer.text();
  if (!answer.ok)
    throw new ForgeRequestError(
      `${host} answered ${answer.status}: ${text.slice(0, maxErrorChars)}`,
      answer.status,
    );
  try {
    return JSON.parse(text);
  } catch {
    throw new ForgeRequestError(`${host} returned invalid JSON`, answer.status);
  }
}

async function attemptFindOrOpen(
  dialect: ForgeDialect,
): Promise<OpenedPullRequest & { readonly isNew: boolean }> {
  const { headers, findUrl, parsePullRequest, openUrl, openRequestBody, conflictStatus } = dialect;
  const find = async (): Promise<OpenedPullRequest | undefined> =>
    z
      .array(z.unknown())
      .parse(await sendForgeRequest(findUrl, headers))
      .map(parsePullRequest)
      .find(({ matchesBranches }) => matchesBranches);
  const before = await find();
  if (before !== undefined) return { number: before.number, url: before.url, isNew: false };
  try {
    const { number, url } = parsePullRequest(await sendForgeRequest(openUrl, headers, openRequestBody));
    return { number, url, isNew: true };
  } catch (error) {
    // A conflict means that another call has opened the pull request in the meantime. Any other error is
    // thrown.
    const other =
      error instanceof ForgeRequestError && error.status === conflictStatus ? await find() : undefined;
    if (other === undefined) throw error;
    return { number: other.number, url: other.url, isNew: false };
  }
}

/** Finds the pull request of the branch, open or closed, or opens a new one. */
export async function findOrOpenPullRequest(
  forge: Forge,
  token: string,
  newPullRequest: NewPullRequest,
): Promise<OpenedPullRequest & { readonly isNew: boolean }> {
  const dialect = createForgeDialect(forge, token, newPullRequest);
  for (let tries = 1; ; tries += 1) {
    try {
      return await attemptFindOrOpen(dialect);
    } catch (error) {
      if (error instanceof z.ZodError)
        throw new ForgeRequestError(
          `${new URL(forge.baseUrl).host} did not answer like a ${forgeNames[forge.kind]} server`,
        );
      if (tries >= maxAttempts || !(error instanceof ForgeRequestError) || !error.isTemporary) throw error;
      await pause(tries * 1_000);
    }
  }
}
