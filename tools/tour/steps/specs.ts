import { workTogether } from '../attempts.ts';
import { type TourStep } from '../tour-state.ts';

const editedSpecs = 4;
const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(0);

/** Eight members and agents write the file's specs at the same time, each a part of them. */
export const specs: TourStep = {
  name: 'The specs go in',
  run: async (tour) => {
    const files = [...tour.board.specs];
    await workTogether(files, tour.team.writers, async ({ api }, [localId, content]) => {
      const storyId = tour.storyIds.get(localId) ?? localId;
      const note = 'From the file of the board';
      await api.storySpec.update({ storyId, content, baseVersion: 0, note });
      tour.specs.set(storyId, [content]);
    });
    const sizes = files.map(([, content]) => Buffer.byteLength(content));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return `${files.length} specs, ${kibibytes(total)} KiB, the largest ${kibibytes(Math.max(0, ...sizes))} KiB`;
  },
};

/** A person and an agent edit the longest specs in turn. Then the first version is restored. */
export const specEdits: TourStep = {
  name: 'Specs are edited',
  run: async ({ team: { ben, chloe, scout }, specs: all }) => {
    const longest = [...all].sort(([, [a = '']], [, [b = '']]) => b.length - a.length).slice(0, editedSpecs);
    for (const [storyId, versions] of longest) {
      for (const { api, name } of [ben, scout]) {
        const content = `${versions.at(-1)}\n## Read by ${name}\n`;
        await api.storySpec.update({ storyId, content, baseVersion: versions.length });
        versions.push(content);
      }
      const { spec } = await chloe.api.storySpec.restore({ storyId, version: 1 });
      versions.push(spec.content);
    }
    return `${longest.length} specs, each edited twice and restored`;
  },
};
