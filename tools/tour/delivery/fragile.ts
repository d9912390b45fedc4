import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { tally } from '../attempts.ts';
import { bringUpInstance, type PartName, partNames } from '../own-instance.ts';
import { type Instance } from '../instance.ts';
import { type BeginFaults } from './day.ts';

/** From the end of one outage to the next, in milliseconds. */
const leastRest = 100;
const mostRest = 800;
/** More than any day has room for. */
const mostOutages = 1000;

/** An instance of its own whose parts are killed one after the other, in an order that the seed decides. */
export async function bringUpFragile(
  seed: number,
): Promise<{ readonly instance: Instance; readonly beginFaults: BeginFaults }> {
  const { instance, parts } = await bringUpInstance('brought up to be killed', true);
  const outages = fc.sample(
    fc.record({
      name: fc.constantFrom(...partNames),
      restMillis: fc.integer({ min: leastRest, max: mostRest }),
    }),
    { seed, numRuns: mostOutages },
  );
  const beginFaults: BeginFaults = () => {
    const ending = new AbortController();
    const killed: PartName[] = [];
    const killing = (async () => {
      for (const { name, restMillis } of outages) {
        await pause(restMillis);
        if (ending.signal.aborted) break;
        const part = parts.get(name);
        if (part === undefined) throw new Error(`${name} is no part of the instance`);
        part.process.kill();
        await part.process.exited;
        parts.set(name, await part.startAgain());
        killed.push(name);
      }
    })();
    killing.catch(() => undefined);
    return {
      end: async () => {
        ending.abort();
        await killing;
        return tally(killed);
      },
    };
  };
  return { instance, beginFaults };
}
