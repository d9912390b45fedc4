import { registry } from '@muster/registry';
import { changedGit, handle } from '@muster/runtime';
import { aboutStory, changedStory, lockStory, setStory, toStory } from '../../data/stories.ts';

export const updateGitMeta = handle(
  registry.stories.updateGitMeta,
  async ({ params, caller, db, access, emit }) => {
    const [{ at }, story] = await Promise.all([access(), lockStory(db, caller.orgId, params.storyId)]);
    const { git, fields } = changedGit(story.git, params.git);
    if (fields.length === 0) return { story: toStory(story) };
    const changed = changedStory(story, { git }, at);
    db.later(setStory(caller.orgId, changed, ['git']));
    emit('story.gitMetaUpdated', aboutStory(story), { fields });
    return { story: toStory(changed) };
  },
);
