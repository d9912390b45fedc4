import { deal, workTogether } from '../attempts.ts';
import { type Step } from '../tour-state.ts';

/** Eight write the file's specs at once, each their share. */
export const specs: Step = {
  name: 'The specs go in',
  run: async (tour) => {
    const files = [...tour.board.specs];
    await workTogether(deal(files, tour.team.writers), async ({ api }, [localId, content]) => {
      const storyId = tour.storyIds.get(localId) ?? localId;
      const { spec } = await api.storySpec.update({
        ...{ storyId, content, baseVersion: 0 },
        note: 'From the file of the board',
      });
      tour.specs.set(storyId, { version: spec.version, content });
    });
    const sizes = files.map(([, content]) => Buffer.byteLength(content));
    const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return `${files.length} specs, ${kibibytes(total)} KiB, the largest ${kibibytes(Math.max(0, ...sizes))} KiB`;
  },
};
