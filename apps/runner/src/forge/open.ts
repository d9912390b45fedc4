/** The pull request of a run. It is opened once; a later runner finds the one that a dead runner opened. */
import { type ReadyRun } from '../session.ts';
import { findOrOpenPullRequest, type OpenedPullRequest } from './pull-requests.ts';
import { findForge } from './remote.ts';
import { findForgeToken } from './token.ts';

/**
 * Opens the pull request of a run. Returns undefined if the settings ask for a branch only, or if the forge
 * or its credentials are missing.
 */
export async function openPullRequest(
  run: ReadyRun,
  summary: string,
): Promise<OpenedPullRequest | undefined> {
  const { session, work, config, own } = run;
  const known = own.get().work?.pullRequest;
  if (known !== undefined || config.pullRequest === 'none') return known;
  const forge = await findForge(session.repository, config.forge);
  if (forge === undefined) return undefined;
  const { host } = new URL(forge.baseUrl);
  const leave = (why: string): void => {
    session.say.warn(`${work.key}: no pull request: ${why}`);
  };
  const token = await findForgeToken(forge);
  if (token === undefined) {
    leave(`there are no credentials for ${host}`);
    return undefined;
  }
  try {
    const { isNew, ...pullRequest } = await findOrOpenPullRequest(forge, token, {
      ...{ branch: work.branch, base: work.base, title: `${work.key} ${work.title}` },
      body: `${summary}\n\nMuster-Execution: ${work.executionId}`,
      isDraft: config.pullRequest === 'draft',
    });
    await own.write({ work: { ...(own.get().work ?? work), pullRequest } });
    session.say.reportStep(
      ...([work.key, 'pull_request', `${isNew ? 'opened' : 'found'} ${pullRequest.url}`] as const),
      { ...pullRequest, isNew },
    );
    return pullRequest;
  } catch (error) {
    // The branch is already pushed. The work can still be submitted, and a person can open the pull request.
    leave((error as Error).message);
    return undefined;
  }
}
