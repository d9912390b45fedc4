import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getSpec, nextSpecRow, insertSpecVersion, toSpec } from '../../data/specs.ts';
import { toStoryEventSubject, lockStory, stories } from '../../data/stories.ts';

export const restore = handle(
  boardRegistry.storySpec.restore,
  async ({ params, targetId, caller, db, access, emit }) => {
    const { actor } = caller;
    const [story, current, old, { at }] = await Promise.all([
      lockStory(db, targetId),
      getSpec(db, targetId),
      getSpec(db, targetId, params.version),
      access(),
    ]);
    if (old.content === current.content) return { spec: current };

    const spec = nextSpecRow(current, { content: old.content, author: actor, note: null, at });
    db.deferToCommit(insertSpecVersion(spec));
    stories.save(db, story, { spec_version: spec.version }, at);
    emit('spec.restored', toStoryEventSubject(story), {
      version: spec.version,
      restoredVersion: old.version,
    });
    return { spec: toSpec(spec) };
  },
);
