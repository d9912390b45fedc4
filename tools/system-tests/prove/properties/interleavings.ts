/**
 * Runs two calls that compete for a lease, with one of them held at the worst moment. The outcome must be
 * exactly the expected one.
 */
import { crowd } from '../board.ts';

import { property, type RunProperty } from '../property.ts';
import { claimScenes } from './interleavings/claim-scenes.ts';
import { scenes as leaseScenes } from './interleavings/scenes.ts';
import { type Interleaving, play, setStage } from './interleavings/stage.ts';

interface Extent {
  readonly scenes: readonly Interleaving[];
  /** Plays each scene a second time, in a database with many other rows. */
  readonly isCrowded: boolean;
}

const run: RunProperty<Extent> = async ({ services }, { scenes, isCrowded }, removals) => {
  const stage = await setStage(services, removals);
  const violations: string[] = [];
  const counts = { scenes: 0, waits: 0 };
  const playAll = async (): Promise<void> => {
    for (const scene of scenes) {
      const { wrong, waited } = await play(stage, scene);
      violations.push(...wrong);
      counts.scenes += 1;
      counts.waits += Number(waited);
    }
  };
  await playAll();
  if (isCrowded) {
    await crowd(stage.team);
    await playAll();
  }
  return { violations, figures: { scenes: counts.scenes, 'times the second one waited': counts.waits } };
};

const all: Extent = { scenes: [...leaseScenes, ...claimScenes], isCrowded: true };

export const interleavings = property<Extent>({
  name: 'interleavings',
  promise:
    'If two calls on one lease meet at any point of their transactions, the result is that of one after the other.',
  short: all,
  long: all,
  run,
  controls: all.scenes.flatMap((scene) =>
    (scene.guards ?? []).map(({ name, removals }) => ({
      name: `${scene.name}, ${name}`,
      extent: { scenes: [scene], isCrowded: false },
      without: removals,
    })),
  ),
});
