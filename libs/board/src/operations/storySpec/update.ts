import { nextVersion } from '@muster/database';
import { registry } from '@muster/registry';
import { handle } from '@muster/runtime';
import { getSpec, nextSpec, setSpec, toSpec } from '../../data/specs.ts';
import { aboutStory, lockStory, stories } from '../../data/stories.ts';

export const update = handle(
  registry.storySpec.update,
  async ({ params, caller, db, access, emit, refuse }) => {
    const { actor } = caller;
    const [story, current, { at }] = await Promise.all([
      lockStory(db, params.storyId),
      getSpec(db, params.storyId),
      access(),
    ]);
    if (params.baseVersion !== undefined && params.baseVersion !== current.version) {
      throw refuse('version_mismatch', { currentVersion: current.version });
    }
    if (params.content === current.content) return { spec: current };

    const spec = nextSpec(current, {
      content: params.content,
      author: actor,
      note: params.note ?? null,
      at,
    });
    db.later(setSpec(spec));
    db.later(stories.write(nextVersion(story, { spec_version: spec.version }, at), ['spec_version']));
    emit('spec.updated', aboutStory(story), {
      version: spec.version,
      linesAdded: spec.lines_added,
      linesRemoved: spec.lines_removed,
    });
    return { spec: toSpec(spec) };
  },
);
