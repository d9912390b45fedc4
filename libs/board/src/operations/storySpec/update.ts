import { requireVersion } from '@muster/driver';
import { normalizeLineFeeds } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { handle } from '@muster/runtime';
import { getSpec, nextSpecRow, insertSpecVersion, toSpec } from '../../data/specs.ts';
import { toStoryEventSubject, lockStory, stories } from '../../data/stories.ts';

export const update = handle(
  boardRegistry.storySpec.update,
  async ({ params, targetId, caller, db, access, emit }) => {
    const { actor } = caller;
    const [story, current, { at }] = await Promise.all([
      lockStory(db, targetId),
      getSpec(db, targetId),
      access(),
    ]);
    requireVersion(current, params.baseVersion);
    if (params.content === normalizeLineFeeds(current.content)) return { spec: current };

    const spec = nextSpecRow(current, {
      content: params.content,
      author: actor,
      note: params.note ?? null,
      at,
    });
    db.deferToCommit(insertSpecVersion(spec));
    stories.save(db, story, { spec_version: spec.version }, at);
    emit('spec.updated', toStoryEventSubject(story), {
      version: spec.version,
      linesAdded: spec.lines_added,
      linesRemoved: spec.lines_removed,
    });
    return { spec: toSpec(spec) };
  },
);
