import { requireVersion } from '@muster/driver';
import { registry, withLineFeeds } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSpec, nextSpec, setSpec, toSpec } from '../../data/specs.ts';
import { aboutStory, lockStory, stories } from '../../data/stories.ts';

export const update = handle(
  registry.storySpec.update,
  async ({ params, targetId, caller, db, access, emit }) => {
    const { actor } = caller;
    const [story, current, { at }] = await Promise.all([
      lockStory(db, targetId),
      getSpec(db, targetId),
      access(),
    ]);
    requireVersion(current, params.baseVersion);
    if (params.content === withLineFeeds(current.content)) return { spec: current };

    const spec = nextSpec(current, {
      content: params.content,
      author: actor,
      note: params.note ?? null,
      at,
    });
    db.later(setSpec(spec));
    stories.save(db, story, { spec_version: spec.version }, at);
    emit('spec.updated', aboutStory(story), {
      version: spec.version,
      linesAdded: spec.lines_added,
      linesRemoved: spec.lines_removed,
    });
    return { spec: toSpec(spec) };
  },
);
