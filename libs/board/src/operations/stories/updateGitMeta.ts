import { applyReportedCode, trustedCodeReport, noReportedCode } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { withCanonicalPullRequest, mergeReportedGit, handle } from '@muster/runtime';
import { toStoryEventSubject, lockStory, stories, toStory } from '../../data/stories.ts';

export const updateGitMeta = handle(boardRegistry.stories.updateGitMeta, async (context) => {
  const { params, targetId, db, access, policy: askPolicy, emit } = context;
  const [{ at }, story, policy] = await Promise.all([access(), lockStory(db, targetId), askPolicy()]);
  const { git, fields } = mergeReportedGit(story.git, await withCanonicalPullRequest(context, params.git));
  const before = story.code ?? noReportedCode;
  const code = applyReportedCode(before, trustedCodeReport(policy, params.git), at);
  // A caller may repeat an older report after reports of other code. Its git fields then change nothing, but
  // the code under review changes.
  if (fields.length === 0 && code === before) return { story: toStory(story) };
  const changed = stories.save(db, story, { git, code }, at);
  emit('story.gitMetaUpdated', toStoryEventSubject(story), { fields });
  return { story: toStory(changed) };
});
