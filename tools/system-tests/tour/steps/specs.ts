import { workTogether } from '../attempts.ts';
import { type TourStep } from '../tour-state.ts';

const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(0);

/** Eight members and agents write the specs of the board file's stories at the same time, each some of them. */
export const specs: TourStep = {
  name: 'The specs go in',
  run: async (tour) => {
    const files = [...tour.board.specs];
    await workTogether(files, tour.team.writers, async ({ api }, [localId, content]) => {
      const storyId = tour.storyIds.get(localId) ?? localId;
      const note = 'From the file of the board';
      await api.storySpec.update({ storyId, content, baseVersion: 0, note });
      tour.specs.set(storyId, content);
    });
    const sizes = files.map(([, content]) => Buffer.byteLength(content));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return `${files.length} specs, ${kibibytes(total)} KiB, the largest ${kibibytes(Math.max(0, ...sizes))} KiB`;
  },
};
