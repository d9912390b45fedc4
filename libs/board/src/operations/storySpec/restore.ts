import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSpec, nextSpec, setSpec, toSpec } from '../../data/specs.ts';
import { aboutStory, changedStory, lockStory, setStory } from '../../data/stories.ts';

export const restore = handle(registry.storySpec.restore, async ({ params, caller, db, access, emit }) => {
  const { orgId, actor } = caller;
  const [story, current, old, { at }] = await Promise.all([
    lockStory(db, orgId, params.storyId),
    getSpec(db, orgId, params.storyId),
    getSpec(db, orgId, params.storyId, params.version),
    access(),
  ]);
  if (old.content === current.content) return { spec: current };

  const spec = nextSpec(orgId, current, { content: old.content, author: actor, note: null, at });
  db.later(setSpec(spec));
  db.later(setStory(orgId, changedStory(story, { spec_version: spec.version }, at), ['spec_version']));
  emit('spec.restored', aboutStory(story), { version: spec.version, restoredVersion: old.version });
  return { spec: toSpec(spec) };
});
