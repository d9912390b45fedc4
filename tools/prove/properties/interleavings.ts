/** Two calls that meet over a lease at the worst moment, held there on purpose: exactly what may come of it does. */
import { crowd } from '../board.ts';
import { type Property, type Report, type Setting } from '../property.ts';
import { claimScenes } from './interleavings/claim-scenes.ts';
import { scenes as leaseScenes } from './interleavings/scenes.ts';
import { play, setStage } from './interleavings/stage.ts';

const scenes = [...leaseScenes, ...claimScenes];

async function run({ services }: Setting): Promise<Report> {
  const stage = await setStage(services);
  const violations: string[] = [];
  let waits = 0;
  const playAll = async (): Promise<void> => {
    for (const scene of scenes) {
      const { wrong, waited } = await play(stage, scene);
      violations.push(...wrong);
      waits += Number(waited);
    }
  };
  await playAll();
  await crowd(stage.team);
  await playAll();
  return { violations, figures: { scenes: 2 * scenes.length, 'times the second one waited': waits } };
}

export const interleavings: Property = {
  name: 'interleavings',
  promise:
    'If two calls on one lease meet at any point of their transactions, the result is that of one after the other.',
  run,
  controls: scenes.flatMap((scene) =>
    (scene.guards ?? []).map(({ name, removals }) => ({
      name: `${scene.name}, ${name}`,
      run: async ({ services }: Setting): Promise<Report> => {
        const { wrong, waited } = await play(await setStage(services, removals), scene);
        return { violations: wrong, figures: { 'times the second one waited': Number(waited) } };
      },
    })),
  ),
};
