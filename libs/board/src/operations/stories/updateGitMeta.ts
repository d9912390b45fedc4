import { type Git, mergeGit, nothingKnown, registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { aboutStory, changedStory, lockStory, setStory, toStory } from '../../data/stories.ts';
import { changedFields } from '../../rules/changes.ts';

export const updateGitMeta = handle(
  registry.stories.updateGitMeta,
  async ({ params, caller, db, access, emit }) => {
    const [{ at }, story] = await Promise.all([access(), lockStory(db, caller.orgId, params.storyId)]);
    const before: Git = story.git ?? nothingKnown;
    const after = mergeGit(before, params.git);
    const fields = changedFields(before, after);
    if (fields.length === 0) return { story: toStory(story) };
    const git = changedFields(nothingKnown, after).length === 0 ? null : after;
    const changed = changedStory(story, { git }, at);
    db.later(setStory(caller.orgId, changed, ['git']));
    emit('story.gitMetaUpdated', aboutStory(story), { fields });
    return { story: toStory(changed) };
  },
);
